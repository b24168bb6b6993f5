"""A device that a worker may compute on."""

from __future__ import annotations

from dataclasses import dataclass

import torch

OTHER_DEVICE = "Choose another device, or leave this one out."
"""The next step for the user if a device can't be used at all."""


@dataclass(frozen=True)
class OpenDevice:
    """A device that is ready for a model. `uuid`: as the device reports it; None for a CPU, an Apple GPU, or
    an AMD GPU that has none. `memory_total`: bytes of a GPU's memory, 0 for other devices. `memory_limit`:
    the bytes that this process may take, None for all that are free.
    """

    device: torch.device
    name: str
    uuid: str | None
    memory_total: int = 0
    memory_limit: int | None = None
