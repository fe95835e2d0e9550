"""What real systems bring into the gym: compose files and other recordings, read as ours."""
