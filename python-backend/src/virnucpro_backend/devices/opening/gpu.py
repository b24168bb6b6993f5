"""Code shared by NVIDIA's and AMD's GPUs: PyTorch calls both cuda."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import torch

from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.open_device import OTHER_DEVICE, OpenDevice

WDDM_MEMORY_SHARE = 0.95
"""The usable share of free memory on Windows. Beyond it, the driver silently uses main memory, ten times
slower."""


def check_one_visible(variable: str, next_step: str) -> str:
    """Return the variable that pins this process to a GPU. Raises LoadFailedError unless one is visible."""
    visible = os.environ.get(variable, "")
    count = torch.cuda.device_count()
    if count != 1:
        raise LoadFailedError(
            "device_unusable",
            f"PyTorch sees {count} GPUs with {variable}={visible!r}; it must be exactly one.",
            next_step,
        )
    return visible


def lacks_precision(message: str) -> LoadFailedError:
    """Make the error for a GPU that lacks the run's precision."""
    return LoadFailedError(
        "precision_unsupported",
        message,
        "Start the run with a precision that all chosen devices have, or leave this device out.",
    )


@dataclass(frozen=True)
class UsableGpu:
    """A GPU that passed a first computation. `properties`: PyTorch's; `free`, `total`: memory in bytes."""

    device: torch.device
    properties: Any
    free: int
    total: int

    @property
    def name(self) -> str:
        """The GPU's name as its driver gives it."""
        return str(self.properties.name)

    def opened(self, uuid: str | None, memory_fraction: float | None) -> OpenDevice:
        """Set the memory limit and return the device, ready for a model; see `open_device`."""
        if sys.platform == "win32":
            memory_fraction = min(memory_fraction or 1, WDDM_MEMORY_SHARE * self.free / self.total)
        limit = None
        if memory_fraction is not None:
            torch.cuda.set_per_process_memory_fraction(memory_fraction, self.device)
            limit = int(memory_fraction * self.total)
        return OpenDevice(self.device, self.name, uuid, self.total, limit)


def usable_gpu() -> UsableGpu:
    """Return the one GPU this process sees. Raises LoadFailedError `device_unusable` if it can't compute."""
    device = torch.device("cuda", 0)
    try:
        properties = torch.cuda.get_device_properties(device)
        # Compute once: only this reveals a PyTorch build without code for this GPU.
        torch.ones(1, device=device).add_(1).item()
        return UsableGpu(device, properties, *torch.cuda.mem_get_info(device))
    except RuntimeError as error:
        raise LoadFailedError(
            "device_unusable", f"The GPU can't be used by this PyTorch: {error}", OTHER_DEVICE
        ) from error
