"""What NVIDIA's and AMD's GPUs have in common: PyTorch drives both by the name cuda."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import torch

from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.open_device import OTHER_DEVICE, OpenDevice

WDDM_MEMORY_SHARE = 0.95
"""Of the free memory on Windows, whose driver silently moves the rest into main memory, ten times slower."""


def check_one_visible(variable: str, next_step: str) -> str:
    """The value of the variable that pins this process; raises LoadFailedError unless it leaves one GPU."""
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
    """The failure of a GPU that has no arithmetic of the run's precision."""
    return LoadFailedError(
        "precision_unsupported",
        message,
        "Start the run with a precision that all chosen devices have, or leave this device out.",
    )


@dataclass(frozen=True)
class UsableGpu:
    """A GPU that has computed. `properties`: PyTorch's; `free`, `total`: bytes of its memory."""

    device: torch.device
    properties: Any
    free: int
    total: int

    @property
    def name(self) -> str:
        """The GPU's name as its driver gives it."""
        return str(self.properties.name)

    def opened(self, uuid: str | None, memory_fraction: float | None) -> OpenDevice:
        """For a model, with the limit of its memory set; see `open_device`."""
        if sys.platform == "win32":
            memory_fraction = min(memory_fraction or 1, WDDM_MEMORY_SHARE * self.free / self.total)
        limit = None
        if memory_fraction is not None:
            torch.cuda.set_per_process_memory_fraction(memory_fraction, self.device)
            limit = int(memory_fraction * self.total)
        return OpenDevice(self.device, self.name, uuid, self.total, limit)


def usable_gpu() -> UsableGpu:
    """The one GPU that this process sees. Raises LoadFailedError `device_unusable` if it can't compute."""
    device = torch.device("cuda", 0)
    try:
        properties = torch.cuda.get_device_properties(device)
        # A first computation: a PyTorch without code for this GPU shows only here.
        torch.ones(1, device=device).add_(1).item()
        return UsableGpu(device, properties, *torch.cuda.mem_get_info(device))
    except RuntimeError as error:
        raise LoadFailedError(
            "device_unusable", f"The GPU can't be used by this PyTorch: {error}", OTHER_DEVICE
        ) from error
