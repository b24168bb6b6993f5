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

_fallbacks: list[str] = []

log = logging.getLogger(__name__)


def fallbacks() -> tuple[str, ...]:
    """Sentences for the user: which of these kernels this process has to do without, why, at what cost."""
    return tuple(_fallbacks)


def record_fallback(sentence: str) -> None:
    """Keep a sentence for `fallbacks`, once: both encoders can meet the same fault."""
    if sentence not in _fallbacks:
        _fallbacks.append(sentence)
        log.warning(sentence)


def without_fused_kernels(why: str) -> str:
    """What a user should know where all fused kernels fall away."""
    return (
        f"{why}, so the encoders run in plain PyTorch, at about 70 % of the speed (measured on an H200). "
        "The results agree within the stated tolerance."
    )


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
        why = "their results differ from PyTorch's"
    except Exception as error:
        why = first_line(error)
    record_fallback(
        f"The program's kernels for Hopper GPUs do not work here ({why}), so its general ones are used, "
        "about 5 % slower. The results agree within the stated tolerance."
    )
    return False


@functools.cache
def _try_out(device: torch.device) -> bool:
    if torch.version.cuda is None or torch.cuda.get_device_capability(device) < (8, 0):
        return False
    if importlib.util.find_spec("triton") is None:
        record_fallback(without_fused_kernels("Triton is not installed"))
        return False
    try:
        # Triton needs more than its package: a C compiler, and a driver that is not older than its assembler.
        from virnucpro_backend.encoders.kernels.triton_gelu import gelu_inplace

        x = torch.linspace(-4, 4, 1024, device=device).view(4, 256)
        ours = x.clone()
        gelu_inplace(ours)
        if torch.allclose(ours, F.gelu(x), atol=1e-5):
            return True
        why = "its results differ from PyTorch's"
    except Exception as error:
        why = first_line(error)
    record_fallback(without_fused_kernels(f"Triton does not work here ({why})"))
    return False


def first_line(error: Exception) -> str:
    """An exception in one line that fits into a sentence."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
