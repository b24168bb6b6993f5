"""Downloads, checks, converts and loads the weights of model folders."""
