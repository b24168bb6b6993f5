"""From a worker's start to its first batch: loading the model, compiling kernels, warming up."""
