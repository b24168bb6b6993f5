"""Opening the one device of a worker, or saying plainly why it can't be used; a file for each maker."""
