"""Settings of PyTorch's GPU memory allocator, the same for workers and for the tools that measure them.

This module doesn't import torch, because a worker sends its hello before that import.
"""

from __future__ import annotations

import os

SETTINGS = {
    # Without it, batches of many sizes leave holes as large as the memory in use. PyTorch renamed it.
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "PYTORCH_ALLOC_CONF": "expandable_segments:True",
}


def set_up_device_allocator() -> None:
    """Set the defaults, before the process first uses a GPU. The user's environment takes precedence."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
