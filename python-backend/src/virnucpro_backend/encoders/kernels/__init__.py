"""Fused kernels (Triton) for NVIDIA GPUs, behind the interfaces of `encoders.ops` and `.attention`.

They round where the eager code rounds, so the two differ by little more than the order of sums. They are
optional: the eager code runs without Triton, on other hardware and in FP32. Every size that varies between
batches is a run-time argument of the kernels, never a compile-time constant: after `warm_up` nothing is
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
"""Linear layers of these dtypes have outputs in half precision; those of FP8 layers are BF16."""

HEAD_DIMS = (32, 64, 128)
"""Rotation splits a head in two, and each half must still fill a matrix instruction."""

_TRYING = threading.RLock()
"""Held while a device is tried: a model is loaded while other threads compile its kernels."""

_fallbacks: list[str] = []

log = logging.getLogger(__name__)


def fallbacks() -> tuple[str, ...]:
    """Sentences that tell the user which kernels this process can't use, why, and what that costs."""
    return tuple(_fallbacks)


def record_fallback(sentence: str) -> None:
    """Keep a sentence for `fallbacks`, but only once: both encoders can meet the same fault."""
    if sentence not in _fallbacks:
        _fallbacks.append(sentence)
        log.warning(sentence)


def without_fused_kernels(why: str) -> str:
    """The sentence for the user if no fused kernel can be used."""
    return (
        f"{why}, so the encoders run in plain PyTorch, at about 70 % of the speed (measured on an H200). "
        "The results agree within the stated tolerance."
    )


def usable(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether the fused kernels run on a device, for linear layers of this dtype; tried once per device."""
    with _TRYING:
        return device.type == "cuda" and dtype in HALF_PRECISION and _try_out(device)


def hopper_usable(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether the fused kernels for Hopper GPUs run too; tried once."""
    with _TRYING:
        return usable(device, dtype) and dtype != FP8 and _try_out_hopper(device, dtype)


@functools.cache
def _try_out_hopper(device: torch.device, dtype: torch.dtype) -> bool:
    if torch.cuda.get_device_capability(device) != (9, 0):
        return False
    try:
        # Gluon, the dialect of these kernels, is new: another version of Triton may use other names.
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
    if torch.cuda.get_device_capability(device) < (8, 0):
        return False
    if importlib.util.find_spec("triton") is None:
        record_fallback(without_fused_kernels("Triton is not installed"))
        return False
    try:
        # Triton also needs a C compiler, and a driver that is not older than its assembler.
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
    """Shorten an exception to one line that fits into a sentence."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
