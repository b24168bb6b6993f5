"""Computing the shares of a run on a Ray cluster."""
