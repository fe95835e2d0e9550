"""One file, one scenario."""
