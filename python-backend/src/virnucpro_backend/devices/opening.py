"""Opens the one device that a worker computes on, and checks its precision."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import torch

from virnucpro_backend.devices.host import cpu_name
from virnucpro_backend.devices.precisions import (
    LEAST_CAPABILITY,
    DeviceKind,
    Precision,
    nvidia_precisions,
)
from virnucpro_backend.problem_codes import LoadFailureCode


class LoadFailedError(Exception):
    """The model can't be loaded on this device. `values` are what the code's words name
    (electron/contract/problems.ts); `detail` is for the log."""

    def __init__(self, code: LoadFailureCode, detail: str, **values: str) -> None:
        super().__init__(detail)
        self.code: LoadFailureCode = code
        self.detail = detail
        self.values = values


@dataclass(frozen=True)
class OpenDevice:
    """A device that is ready for a model. `uuid`: as the device reports it; None for a CPU or an Apple GPU.
    `memory_total`: bytes of a GPU's memory, 0 for other devices. `memory_limit`:
    the bytes that this process may take, None for all that are free.
    """

    device: torch.device
    name: str
    uuid: str | None
    memory_total: int = 0
    memory_limit: int | None = None


def open_device(kind: DeviceKind, precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open a device and check that it can compute in this precision.

    `memory_fraction`: the largest share of a GPU's memory to use; None allows all that is free. Raises
    LoadFailedError, as do all functions here that open a device.
    """
    if kind == "cuda":
        return open_cuda(precision, memory_fraction)
    if precision == "fp8":
        raise lacks_precision(precision, "FP8 needs an NVIDIA GPU of compute capability 8.9 or more.")
    if kind == "mps":
        return open_mps(memory_fraction)
    # One thread per CPU worker: sums over several threads would depend on the number of cores.
    torch.set_num_threads(1)
    return OpenDevice(torch.device("cpu"), cpu_name(), None)


def check_capability(name: str, capability: tuple[int, int], precision: Precision) -> None:
    """Raise LoadFailedError `precision_unsupported` if a GPU of this capability lacks the precision."""
    if precision not in nvidia_precisions(capability):
        raise lacks_precision(
            precision,
            f"{name} has compute capability {_dotted(capability)}; "
            f"{precision.upper()} needs {_dotted(LEAST_CAPABILITY[precision])}.",
        )


def uuid_as_nvml_writes_it(uuid: str, visible_devices: str) -> str:
    """Add the prefix of a GPU or of a MIG slice, whichever is visible, to the bare UUID CUDA reports."""
    prefix = "MIG-" if visible_devices.upper().startswith("MIG-") else "GPU-"
    return prefix + uuid.lower()


def open_cuda(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open the visible NVIDIA GPU."""
    if torch.version.cuda is None:
        raise _unfit_pytorch()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    count = torch.cuda.device_count()
    if count != 1:
        raise LoadFailedError(
            "gpu_not_alone",
            f"PyTorch sees {count} GPUs with CUDA_VISIBLE_DEVICES={visible!r}; it must be exactly one.",
            number=str(count),
            value=visible,
        )
    gpu = usable_gpu()
    check_capability(gpu.name, (gpu.properties.major, gpu.properties.minor), precision)
    return gpu.opened(uuid_as_nvml_writes_it(str(gpu.properties.uuid), visible), memory_fraction)


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def _unfit_pytorch() -> LoadFailedError:
    version = str(torch.__version__)
    return LoadFailedError("pytorch_unfit", f"PyTorch {version} has no such device.", version=version)


def open_mps(memory_fraction: float | None) -> OpenDevice:
    """Open the Apple GPU."""
    if not torch.backends.mps.is_available():
        raise _unfit_pytorch()
    if memory_fraction is not None:
        torch.mps.set_per_process_memory_fraction(memory_fraction)
    return OpenDevice(torch.device("mps"), f"{cpu_name()} GPU", None)


WDDM_MEMORY_SHARE = 0.95
"""The usable share of free memory on Windows. Beyond it, the driver silently uses main memory, ten times
slower."""


def lacks_precision(precision: Precision, detail: str) -> LoadFailedError:
    """Make the error for a device that lacks the run's precision."""
    return LoadFailedError("precision_unsupported", detail, precision=precision.upper())


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
    """Return the one GPU this process sees, which must be able to compute."""
    device = torch.device("cuda", 0)
    try:
        properties = torch.cuda.get_device_properties(device)
        # Compute once: only this reveals a PyTorch build without code for this GPU.
        torch.ones(1, device=device).add_(1).item()
        return UsableGpu(device, properties, *torch.cuda.mem_get_info(device))
    except RuntimeError as error:
        raise LoadFailedError("device_unusable", str(error)) from error
