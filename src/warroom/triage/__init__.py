"""What a log says: its lines read and counted by template, what changed and when. It names no cause."""
