"""Fused kernels (Triton) for NVIDIA GPUs, behind the faces of `encoders.ops` and `encoders.attention`.

They round where the eager code rounds, so that the two differ by little more than the order of sums. Nothing
needs them: without Triton, on other hardware and in FP32 the eager code runs. On AMD GPUs none is ever tried:
they are tuned for NVIDIA's units, and a PyTorch for ROCm gives AMD's versions out as compute capabilities
((9, 0) is both Hopper and gfx90a), so that only the build of PyTorch tells the two apart. Every size that
varies between batches is data to the kernels, never a compile-time constant: after `warm_up` nothing is
compiled again, whatever the lengths.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import threading

import torch
import torch.nn.functional as F

from virnucpro_backend.encoders.fp8 import FP8

HALF_PRECISION = (torch.bfloat16, torch.float16, FP8)
"""Linear layers of these dtypes put out half precision; FP8 ones put out BF16."""

HEAD_DIMS = (32, 64, 128)
"""Half a head, which rotation takes apart, must still fill a matrix instruction."""

_TRYING = threading.RLock()
"""Held while a device is tried out: a model is loaded while its kernels are compiled in other threads."""

log = logging.getLogger(__name__)


def usable(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether the fused kernels run on a device, for linear layers of this dtype; tried out once per
    device."""
    with _TRYING:
        return device.type == "cuda" and dtype in HALF_PRECISION and _try_out(device)


def hopper_usable(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether, of the fused kernels, those for Hopper GPUs run too; tried out once."""
    with _TRYING:
        return usable(device, dtype) and dtype != FP8 and _try_out_hopper(device, dtype)


@functools.cache
def _try_out_hopper(device: torch.device, dtype: torch.dtype) -> bool:
    if torch.cuda.get_device_capability(device) != (9, 0):
        return False
    try:
        # The dialect they are written in is young: another version of Triton may know other names.
        from virnucpro_backend.encoders.kernels.hopper import agree_with_pytorch

        if agree_with_pytorch(device, dtype):
            return True
        log.warning("the kernels for Hopper GPUs compute something else here, general ones are used")
    except Exception as error:
        log.warning("the kernels for Hopper GPUs do not work here, general ones are used: %s", error)
    return False


@functools.cache
def _try_out(device: torch.device) -> bool:
    if torch.version.cuda is None or torch.cuda.get_device_capability(device) < (8, 0):
        return False
    if importlib.util.find_spec("triton") is None:
        log.warning(
            "Triton is not installed: the encoders run without fused kernels, at about 70 %% of the speed"
        )
        return False
    try:
        # Triton needs more than its package: a C compiler, and a driver that is not older than its assembler.
        from virnucpro_backend.encoders.kernels.triton_gelu import gelu_inplace

        x = torch.linspace(-4, 4, 1024, device=device).view(4, 256)
        ours = x.clone()
        gelu_inplace(ours)
        return bool(torch.allclose(ours, F.gelu(x), atol=1e-5))
    except Exception as error:
        log.warning("Triton does not work here, the encoders run without fused kernels: %s", error)
        return False
