"""Opens an NVIDIA GPU, and checks its precision."""

from __future__ import annotations

import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.gpu import check_one_visible, lacks_precision, usable_gpu
from virnucpro_backend.devices.opening.open_device import OpenDevice
from virnucpro_backend.devices.precisions import LEAST_CAPABILITY, nvidia_precisions


def check_capability(name: str, capability: tuple[int, int], precision: Precision) -> None:
    """Raise LoadFailedError `precision_unsupported` if a GPU of this capability lacks the precision."""
    if precision not in nvidia_precisions(capability):
        raise lacks_precision(
            f"{name} has compute capability {_dotted(capability)}; "
            f"{precision.upper()} needs {_dotted(LEAST_CAPABILITY[precision])}."
        )


def uuid_as_nvml_writes_it(uuid: str, visible_devices: str) -> str:
    """Add the prefix of a GPU or of a MIG slice, whichever is visible, to the bare UUID CUDA reports."""
    prefix = "MIG-" if visible_devices.upper().startswith("MIG-") else "GPU-"
    return prefix + uuid.lower()


def open_cuda(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open the visible NVIDIA GPU. Raises LoadFailedError (`device_unusable`, `precision_unsupported`)."""
    if torch.version.cuda is None:
        which = "without GPU support" if torch.version.hip is None else "for AMD GPUs"
        raise LoadFailedError(
            "device_unusable",
            f"The installed PyTorch is the one {which}.",
            "Repair the Python environment, so that the PyTorch for NVIDIA GPUs is installed.",
        )
    visible = check_one_visible(
        "CUDA_VISIBLE_DEVICES",
        "Check with nvidia-smi that the GPU is there and the driver is not older than PyTorch needs.",
    )
    gpu = usable_gpu()
    check_capability(gpu.name, (gpu.properties.major, gpu.properties.minor), precision)
    return gpu.opened(uuid_as_nvml_writes_it(str(gpu.properties.uuid), visible), memory_fraction)


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
