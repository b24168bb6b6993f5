"""Opening the one device of a worker, or saying in plain words why it can't be used."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Any

import torch

from virnucpro_backend.host import cpu_name
from virnucpro_backend.inference.commands import DeviceKind, Precision
from virnucpro_backend.inference.failures import LoadFailedError

LEAST_CAPABILITY: dict[Precision, tuple[int, int]] = {"bf16": (8, 0), "fp16": (7, 0), "fp8": (8, 9)}
"""Compute capability from which a GPU has the arithmetic of a precision; FP32 runs everywhere."""

WDDM_MEMORY_SHARE = 0.95
"""Of the free memory on Windows, whose driver silently moves the rest into main memory, ten times slower."""

AMD_TARGETS: dict[Precision, tuple[str, ...]] = {
    "bf16": ("gfx90a", "gfx94", "gfx95", "gfx11", "gfx12"),
    "fp16": ("gfx90", "gfx94", "gfx95", "gfx10", "gfx11", "gfx12"),
    "fp8": (),
}
"""Beginnings of the names of AMD's instruction sets that have fast arithmetic of a precision; FP32 runs
everywhere. BF16: the matrix units of MI200 and later and of RDNA 3 and later. FP16: also paired arithmetic,
from Vega on. FP8: none, the layers for it were made for NVIDIA's format.
"""

_OTHER_DEVICE = "Choose another device, or leave this one out."
_NEEDS_ROCM = (
    "Make a Python environment with PyTorch for ROCm and the other packages of "
    "python-backend/requirements.txt, and name its interpreter: --python PATH, or VIRNUCPRO_PYTHON=PATH for "
    "the app."
)


@dataclass(frozen=True)
class OpenDevice:
    """A device that is ready for a model; `uuid` is what the device itself says, None for a CPU, an Apple
    GPU, or an AMD GPU that has none. `memory_total`: bytes of a GPU's memory, 0 for the others;
    `memory_limit`: those of them that this process may take, None for all that are free.
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
    if kind == "rocm":
        return _open_rocm(precision, memory_fraction)
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


def check_gfx_target(name: str, target: str, precision: Precision) -> None:
    """Raise LoadFailedError `precision_unsupported` if an AMD GPU lacks the precision. `target`: its
    instruction set as PyTorch writes it, such as gfx90a:sramecc+:xnack-.
    """
    if precision != "fp32" and not target.startswith(AMD_TARGETS[precision]):
        raise LoadFailedError(
            "precision_unsupported",
            f"{name} ({target.split(':')[0]}) has no {precision.upper()} arithmetic that this program uses.",
            "Start the run with a precision that all chosen devices have, or leave this device out.",
        )


def uuid_as_rocm_writes_it(uuid: str) -> str | None:
    """The UUID of an AMD GPU as the probe has it, from PyTorch's; None where that is something else.

    PyTorch writes 16 bytes as hexadecimal digits. ROCm's bytes are taken to be themselves the 16 hexadecimal
    digits that follow `GPU-`, which nobody has looked at on an AMD GPU; whatever else they are is left out.
    """
    try:
        digits = bytes.fromhex(uuid.replace("-", "")).decode("ascii").lower()
    except ValueError:
        return None
    return f"GPU-{digits}" if re.fullmatch("[0-9a-f]{16}", digits) else None


def uuid_as_nvml_writes_it(uuid: str, visible_devices: str) -> str:
    """The bare UUID that CUDA reports, with the prefix of a GPU or of a MIG slice, whichever is visible."""
    prefix = "MIG-" if visible_devices.upper().startswith("MIG-") else "GPU-"
    return prefix + uuid.lower()


def _open_cuda(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    if torch.version.cuda is None:
        which = "without GPU support" if torch.version.hip is None else "for AMD GPUs"
        raise LoadFailedError(
            "device_unusable",
            f"The installed PyTorch is the one {which}.",
            "Repair the Python environment, so that the PyTorch for NVIDIA GPUs is installed.",
        )
    visible = _check_one_visible(
        "CUDA_VISIBLE_DEVICES",
        "Check with nvidia-smi that the GPU is there and the driver is not older than PyTorch needs.",
    )
    gpu = _usable_gpu()
    check_capability(gpu.name, (gpu.properties.major, gpu.properties.minor), precision)
    return gpu.opened(uuid_as_nvml_writes_it(str(gpu.properties.uuid), visible), memory_fraction)


def _open_rocm(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    if torch.version.hip is None:
        raise LoadFailedError(
            "device_unusable",
            f"An AMD GPU needs PyTorch for ROCm; the installed PyTorch ({torch.__version__}) is another one.",
            _NEEDS_ROCM,
        )
    _check_one_visible(
        "ROCR_VISIBLE_DEVICES",
        "Check with rocminfo that ROCm finds the GPU, and that this account is in the groups render and "
        "video.",
    )
    gpu = _usable_gpu()
    check_gfx_target(gpu.name, gpu.properties.gcnArchName, precision)
    return gpu.opened(uuid_as_rocm_writes_it(str(gpu.properties.uuid)), memory_fraction)


def _check_one_visible(variable: str, next_step: str) -> str:
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


@dataclass(frozen=True)
class _UsableGpu:
    """A GPU that has computed. `properties`: PyTorch's; `free`, `total`: bytes of its memory."""

    device: torch.device
    properties: Any
    free: int
    total: int

    @property
    def name(self) -> str:
        return str(self.properties.name)

    def opened(self, uuid: str | None, memory_fraction: float | None) -> OpenDevice:
        if memory_fraction is None and sys.platform == "win32":
            memory_fraction = WDDM_MEMORY_SHARE * self.free / self.total
        limit = None
        if memory_fraction is not None:
            torch.cuda.set_per_process_memory_fraction(memory_fraction, self.device)
            limit = int(memory_fraction * self.total)
        return OpenDevice(self.device, self.name, uuid, self.total, limit)


def _usable_gpu() -> _UsableGpu:
    device = torch.device("cuda", 0)
    try:
        properties = torch.cuda.get_device_properties(device)
        # A first computation: a PyTorch without code for this GPU shows only here.
        torch.ones(1, device=device).add_(1).item()
        return _UsableGpu(device, properties, *torch.cuda.mem_get_info(device))
    except RuntimeError as error:
        raise LoadFailedError(
            "device_unusable", f"The GPU can't be used by this PyTorch: {error}", _OTHER_DEVICE
        ) from error


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
