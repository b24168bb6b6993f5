"""The kinds of devices, and the precisions in which they compute."""

from __future__ import annotations

from typing import Literal

DeviceKind = Literal["cpu", "cuda", "rocm", "mps"]
"""`cuda` stands for NVIDIA's GPUs and `rocm` for AMD's, although PyTorch calls both `cuda`."""

Precision = Literal["fp32", "bf16", "fp16", "fp8"]
"""The precision of a run's matrix products."""
