"""The contract that environments, policies and adapters share. Standard library only."""
