"""The server of the page: games by id, watched or played by people in a browser."""
