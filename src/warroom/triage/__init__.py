"""Log files of any length and format: read once, counted, and brought to a verdict."""
