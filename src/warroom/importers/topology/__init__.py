"""Compose projects as topologies: which services there are, what each of them is, and who calls whom."""
