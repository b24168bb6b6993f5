"""Workers on the nodes of a Ray cluster, through Ray's own actors."""
