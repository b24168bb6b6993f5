"""Opening the one device of a worker, or saying in plain words why it can't be used."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import torch

from virnucpro_backend.host import cpu_name
from virnucpro_backend.inference.commands import DeviceKind, Precision
from virnucpro_backend.inference.failures import LoadFailedError

LEAST_CAPABILITY: dict[Precision, tuple[int, int]] = {"bf16": (8, 0), "fp16": (7, 0), "fp8": (8, 9)}
"""Compute capability from which a GPU has the arithmetic of a precision; FP32 runs everywhere."""

WDDM_MEMORY_SHARE = 0.95
"""Of the free memory on Windows, whose driver silently moves the rest into main memory, ten times slower."""

_OTHER_DEVICE = "Choose another device, or leave this one out."


@dataclass(frozen=True)
class OpenDevice:
    """A device that is ready for a model; `uuid` is what the device itself says, None for a CPU or an Apple
    GPU. `memory_total`: bytes of a GPU's memory, 0 for the others; `memory_limit`: those of them that this
    process may take, None for all that are free.
    """

    device: torch.device
    name: str
    uuid: str | None
    memory_total: int = 0
    memory_limit: int | None = None


def open_device(kind: DeviceKind, precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open a device and check that it can compute in this precision.

    `memory_fraction`: the largest share of a GPU's memory to use; None is all that is free. Raises
    LoadFailedError (`device_unusable`, `precision_unsupported`).
    """
    if kind == "cuda":
        return _open_cuda(precision, memory_fraction)
    if precision == "fp8":
        raise LoadFailedError(
            "precision_unsupported",
            f"FP8 needs an NVIDIA GPU of compute capability 8.9 or more; this device is "
            f"{'an Apple GPU' if kind == 'mps' else 'a CPU'}.",
            "Choose FP16 or FP32.",
        )
    if kind == "mps":
        return _open_mps(memory_fraction)
    # One thread per CPU worker: sums over several threads would depend on how many cores there are.
    torch.set_num_threads(1)
    return OpenDevice(torch.device("cpu"), cpu_name(), None)


def check_capability(name: str, capability: tuple[int, int], precision: Precision) -> None:
    """Raise LoadFailedError `precision_unsupported` if a GPU of this capability lacks the precision."""
    least = LEAST_CAPABILITY.get(precision, (0, 0))
    if capability < least:
        raise LoadFailedError(
            "precision_unsupported",
            f"{name} has compute capability {_dotted(capability)}; "
            f"{precision.upper()} needs {_dotted(least)}.",
            "Start the run with a precision that all chosen devices have, or leave this device out.",
        )


def uuid_as_nvml_writes_it(uuid: str, visible_devices: str) -> str:
    """The bare UUID that CUDA reports, with the prefix of a GPU or of a MIG slice, whichever is visible."""
    prefix = "MIG-" if visible_devices.upper().startswith("MIG-") else "GPU-"
    return prefix + uuid.lower()


def _open_cuda(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    if torch.version.cuda is None and torch.version.hip is None:
        raise LoadFailedError(
            "device_unusable",
            "The installed PyTorch is the one without GPU support.",
            "Repair the Python environment, so that the PyTorch for NVIDIA GPUs is installed.",
        )
    count = torch.cuda.device_count()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if count != 1:
        raise LoadFailedError(
            "device_unusable",
            f"PyTorch sees {count} GPUs with CUDA_VISIBLE_DEVICES={visible!r}; it must be exactly one.",
            "Check with nvidia-smi that the GPU is there and the driver is not older than PyTorch needs.",
        )
    device = torch.device("cuda", 0)
    try:
        properties = torch.cuda.get_device_properties(device)
        # A first computation: a PyTorch without code for this GPU shows only here.
        torch.ones(1, device=device).add_(1).item()
        free, total = torch.cuda.mem_get_info(device)
    except RuntimeError as error:
        raise LoadFailedError(
            "device_unusable", f"The GPU can't be used by this PyTorch: {error}", _OTHER_DEVICE
        ) from error
    check_capability(properties.name, (properties.major, properties.minor), precision)
    if memory_fraction is None and sys.platform == "win32":
        memory_fraction = WDDM_MEMORY_SHARE * free / total
    limit = None
    if memory_fraction is not None:
        torch.cuda.set_per_process_memory_fraction(memory_fraction, device)
        limit = int(memory_fraction * total)
    uuid = uuid_as_nvml_writes_it(str(properties.uuid), visible)
    return OpenDevice(device, properties.name, uuid, total, limit)


def _open_mps(memory_fraction: float | None) -> OpenDevice:
    if not torch.backends.mps.is_available():
        raise LoadFailedError(
            "device_unusable", "This computer has no Apple GPU that PyTorch can use.", _OTHER_DEVICE
        )
    if memory_fraction is not None:
        torch.mps.set_per_process_memory_fraction(memory_fraction)
    return OpenDevice(torch.device("mps"), f"{cpu_name()} GPU", None)


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
