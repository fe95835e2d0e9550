"""One file, one scenario: copy one, edit it, and it is listed, played, tested and scored like the rest."""
