"""The page: an incident in the browser, for whoever watches and whoever takes a seat."""
