"""Opens an AMD GPU, and checks its precision."""

from __future__ import annotations

import re

import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.gpu import check_one_visible, lacks_precision, usable_gpu
from virnucpro_backend.devices.opening.open_device import OpenDevice
from virnucpro_backend.devices.precisions import amd_precisions

_NEEDS_ROCM = (
    "Make a Python environment with PyTorch for ROCm and the other packages of "
    "python-backend/requirements.txt, and name its interpreter: --python PATH, or VIRNUCPRO_PYTHON=PATH for "
    "the app."
)


def check_gfx_target(name: str, target: str, precision: Precision) -> None:
    """Raise LoadFailedError `precision_unsupported` if an AMD GPU lacks the precision. `target`: its
    instruction set as PyTorch names it, such as gfx90a:sramecc+:xnack-.
    """
    if precision not in amd_precisions(target):
        raise lacks_precision(
            f"{name} ({target.split(':')[0]}) has no {precision.upper()} arithmetic that this program uses."
        )


def uuid_as_rocm_writes_it(uuid: str) -> str | None:
    """Convert PyTorch's UUID of an AMD GPU to the probe's; None if it has another form.

    PyTorch writes 16 bytes as hexadecimal digits. For ROCm, these bytes are assumed to be the ASCII of the 16
    hexadecimal digits after `GPU-`; this has not been checked on an AMD GPU.
    """
    try:
        digits = bytes.fromhex(uuid.replace("-", "")).decode("ascii").lower()
    except ValueError:
        return None
    return f"GPU-{digits}" if re.fullmatch("[0-9a-f]{16}", digits) else None


def open_rocm(precision: Precision, memory_fraction: float | None) -> OpenDevice:
    """Open the visible AMD GPU. Raises LoadFailedError (`device_unusable`, `precision_unsupported`)."""
    if torch.version.hip is None:
        raise LoadFailedError(
            "device_unusable",
            f"An AMD GPU needs PyTorch for ROCm; the installed PyTorch ({torch.__version__}) is another one.",
            _NEEDS_ROCM,
        )
    check_one_visible(
        "ROCR_VISIBLE_DEVICES",
        "Check with rocminfo that ROCm finds the GPU, and that this account is in the groups render and "
        "video.",
    )
    gpu = usable_gpu()
    check_gfx_target(gpu.name, gpu.properties.gcnArchName, precision)
    return gpu.opened(uuid_as_rocm_writes_it(str(gpu.properties.uuid)), memory_fraction)
