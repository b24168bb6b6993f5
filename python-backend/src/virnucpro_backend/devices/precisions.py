"""The kinds of devices, and the precisions that each GPU supports: a worker refuses all others."""

from __future__ import annotations

from typing import Literal

DeviceKind = Literal["cpu", "cuda", "rocm", "mps"]
"""`cuda` stands for NVIDIA's GPUs and `rocm` for AMD's, although PyTorch calls both `cuda`."""

Precision = Literal["fp32", "bf16", "fp16", "fp8"]
"""The precision of a run's matrix products."""


ALL: tuple[Precision, ...] = ("fp8", "bf16", "fp16", "fp32")

LEAST_CAPABILITY: dict[Precision, tuple[int, int]] = {
    "fp8": (8, 9),
    "bf16": (8, 0),
    "fp16": (7, 0),
    "fp32": (0, 0),
}
"""The lowest NVIDIA compute capability that supports each precision. GPUs before Volta have FP16 numbers,
but compute no faster with them."""

AMD_TARGETS: dict[Precision, tuple[str, ...]] = {
    "fp8": (),
    "bf16": ("gfx90a", "gfx94", "gfx95", "gfx11", "gfx12"),
    "fp16": ("gfx90", "gfx94", "gfx95", "gfx10", "gfx11", "gfx12"),
    "fp32": ("gfx",),
}
"""Prefixes of the AMD instruction sets that have fast arithmetic in each precision.

BF16: the matrix units of MI200 and later and of RDNA 3 and later; those of MI100 are half as fast in it.
FP16: also paired arithmetic, from Vega on. FP8: none, because the layers for it use NVIDIA's format.
"""


def nvidia_precisions(capability: tuple[int, int]) -> list[Precision]:
    """The precisions of a GPU with this compute capability."""
    return [precision for precision in ALL if capability >= LEAST_CAPABILITY[precision]]


def amd_precisions(gfx_target: str) -> list[Precision]:
    """The precisions of a GPU with this instruction set, such as gfx1100."""
    return [precision for precision in ALL if gfx_target.startswith(AMD_TARGETS[precision])]
