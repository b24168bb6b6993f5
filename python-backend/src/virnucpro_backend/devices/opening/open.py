"""Opens the device that the engine names."""

from __future__ import annotations

import torch

from virnucpro_backend.devices.host import cpu_name
from virnucpro_backend.devices.kinds import DeviceKind, Precision
from virnucpro_backend.devices.opening.amd import open_rocm
from virnucpro_backend.devices.opening.apple import open_mps
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.nvidia import open_cuda
from virnucpro_backend.devices.opening.open_device import OpenDevice


def open_device(kind: DeviceKind, precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open a device and check that it can compute in this precision.

    `memory_fraction`: the largest share of a GPU's memory to use; None allows all that is free. Raises
    LoadFailedError (`device_unusable`, `precision_unsupported`).
    """
    if kind == "cuda":
        return open_cuda(precision, memory_fraction)
    if kind == "rocm":
        return open_rocm(precision, memory_fraction)
    if precision == "fp8":
        raise LoadFailedError(
            "precision_unsupported",
            f"FP8 needs an NVIDIA GPU of compute capability 8.9 or more; this device is "
            f"{'an Apple GPU' if kind == 'mps' else 'a CPU'}.",
            "Choose FP16 or FP32.",
        )
    if kind == "mps":
        return open_mps(memory_fraction)
    # One thread per CPU worker: sums over several threads would depend on the number of cores.
    torch.set_num_threads(1)
    return OpenDevice(torch.device("cpu"), cpu_name(), None)
