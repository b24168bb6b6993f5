"""The kinds of devices, and the precisions that each GPU supports: a worker refuses all others."""

from __future__ import annotations

from typing import Literal

DeviceKind = Literal["cpu", "cuda", "mps"]

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


def nvidia_precisions(capability: tuple[int, int]) -> list[Precision]:
    """The precisions of a GPU with this compute capability."""
    return [precision for precision in ALL if capability >= LEAST_CAPABILITY[precision]]
