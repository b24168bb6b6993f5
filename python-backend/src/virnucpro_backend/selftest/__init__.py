"""Does this installation compute what it should, and how fast? Four levels behind one command."""
