"""Settings of PyTorch's memory allocators, the same for workers and for the tools that measure them.

This module doesn't import torch, because a worker sends its hello before that import.
"""

from __future__ import annotations

import os

SETTINGS = {
    # Without it, batches of many sizes leave holes as large as the memory in use. PyTorch renamed it.
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "PYTORCH_ALLOC_CONF": "expandable_segments:True",
    # Main memory that a processor takes and gives back with every layer costs half as much in pages of 2 MB.
    "THP_MEM_ALLOC_ENABLE": "1",
}


def set_up_device_allocator() -> None:
    """Set the defaults, before the process first takes memory. The user's environment takes precedence."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
