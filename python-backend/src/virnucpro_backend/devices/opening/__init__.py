"""Opens the one device that a worker computes on. These files import PyTorch."""
