"""Runbooks, alert rules and tables of tickets, as a knowledge base and the tickets asked of it."""
