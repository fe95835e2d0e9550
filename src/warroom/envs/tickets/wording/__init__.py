"""English of the help desk: frames by kind of message and split, written from values and read back."""
