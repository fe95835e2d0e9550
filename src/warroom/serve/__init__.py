"""Incidents for whoever is outside: OpenEnv servers and their client, and the same seats over MCP."""
