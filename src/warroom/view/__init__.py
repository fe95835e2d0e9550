"""Ways to watch an episode."""
