"""PyTorch's allocator of a GPU's memory, set up alike for workers and for what measures their memory.

Imports no torch: a worker says hello before it does.
"""

from __future__ import annotations

import os

SETTINGS = {
    # Batches of many sizes otherwise leave holes, as large again as what they use. Two names, old and new.
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "PYTORCH_ALLOC_CONF": "expandable_segments:True",
}


def set_up_device_allocator() -> None:
    """Effective for a process that has not used a GPU yet. What the user's environment says is kept."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
