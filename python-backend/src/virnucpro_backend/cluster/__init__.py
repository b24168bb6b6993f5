"""Workers on other computers, through a scheduler that already runs there."""
