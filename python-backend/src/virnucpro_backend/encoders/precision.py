"""The precisions of a run's matrix products, and PyTorch's settings that would silently weaken them."""

from __future__ import annotations

import torch

from virnucpro_backend.devices.precisions import Precision

DTYPES: dict[Precision, torch.dtype] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.bfloat16,
}
"""The dtype in which linear layers are built. With "fp8", those of ESM-2 are then converted to FP8; all
others stay BF16."""

ALLOWED_SCORE: dict[Precision, float] = {"fp32": 1e-3, "fp16": 1e-2, "bf16": 5e-2, "fp8": 0.2}
"""The largest difference of a score from its known value that rounding explains."""


def forbid_hidden_rounding() -> None:
    """Compute FP32 products in FP32 (no TF32), and sum half-precision products in FP32 throughout."""
    torch.set_float32_matmul_precision("highest")
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False
