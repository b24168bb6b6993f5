"""Times the command `predict` from start to end."""
