"""The commands, one file for each family; what they need is imported when they run, so that help comes at once."""
