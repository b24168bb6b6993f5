"""The kinds of devices, and the precisions in which they compute."""

from __future__ import annotations

from typing import Literal

DeviceKind = Literal["cpu", "cuda", "rocm", "mps"]
"""`cuda` is NVIDIA's GPUs and `rocm` AMD's, though PyTorch calls the devices of both `cuda`."""

Precision = Literal["fp32", "bf16", "fp16", "fp8"]
"""Of a run's matrix products."""
