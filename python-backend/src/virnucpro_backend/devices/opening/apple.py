"""Opens an Apple GPU."""

from __future__ import annotations

import torch

from virnucpro_backend.devices.host import cpu_name
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.open_device import OTHER_DEVICE, OpenDevice


def open_mps(memory_fraction: float | None) -> OpenDevice:
    """Open the Apple GPU. Raises LoadFailedError `device_unusable`."""
    if not torch.backends.mps.is_available():
        raise LoadFailedError(
            "device_unusable", "This computer has no Apple GPU that PyTorch can use.", OTHER_DEVICE
        )
    if memory_fraction is not None:
        torch.mps.set_per_process_memory_fraction(memory_fraction)
    return OpenDevice(torch.device("mps"), f"{cpu_name()} GPU", None)
