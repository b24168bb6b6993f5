"""Reports what an input file holds and what a run will do with it, without preparing it."""
