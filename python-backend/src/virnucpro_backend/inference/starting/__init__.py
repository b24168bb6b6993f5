"""Starts a worker: loads the model, compiles kernels, and warms up."""
