"""What an input file holds and what will happen to it, without preparing it."""
