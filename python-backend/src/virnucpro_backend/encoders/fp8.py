"""Matrix products in FP8 (e4m3): each row of activations and each row of weights has its own FP32 scale.

Only the operands of a model's linear layers are FP8; their outputs are BF16. LayerNorm and GELU, which read
each row anyway, also compute its scale; only the output of attention needs a separate pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

FP8 = torch.float8_e4m3fn
FP8_LARGEST = torch.finfo(FP8).max
FP8_OUTPUT = torch.bfloat16


class Fp8Rows(NamedTuple):
    """A matrix, stored as values float8_e4m3fn [rows, width] times scale FP32 [rows, 1]."""

    values: Tensor
    scale: Tensor

    @classmethod
    def empty_like(cls, x: Tensor) -> Fp8Rows:
        """Allocate a matrix of the shape of x on its device."""
        scale = torch.empty(x.shape[0], 1, dtype=torch.float32, device=x.device)
        return cls(torch.empty_like(x, dtype=FP8), scale)


Activations = Tensor | Fp8Rows
"""Input of a linear layer: rows in the run's precision, or in FP8 with their scales."""


def quantized(x: Tensor) -> Fp8Rows:
    """Convert x [rows, width] to FP8, each row scaled so that its largest number is the largest of FP8."""
    x = x.float()
    scale = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / FP8_LARGEST
    return Fp8Rows((x * (1.0 / scale)).clamp(-FP8_LARGEST, FP8_LARGEST).to(FP8), scale)


class Fp8Linear(nn.Module):
    """A linear layer of FP8 products. `weight` FP8 [outputs, inputs], `weight_scale` FP32 [1, outputs]."""

    weight: Tensor
    weight_scale: Tensor
    bias: Tensor

    def __init__(self, linear: nn.Linear, quantize: Callable[[Tensor], Fp8Rows]) -> None:
        super().__init__()
        rows = quantized(linear.weight)
        self._quantize = quantize
        self.register_buffer("weight", rows.values)
        self.register_buffer("weight_scale", rows.scale.t().contiguous())
        self.register_buffer("bias", linear.bias.to(FP8_OUTPUT))

    def forward(self, x: Activations) -> Tensor:
        """Map x [T, inputs] to BF16 [T, outputs]; T must be a multiple of 16."""
        rows = x if isinstance(x, Fp8Rows) else self._quantize(x)
        return torch._scaled_mm(
            rows.values,
            self.weight.t(),
            scale_a=rows.scale,
            scale_b=self.weight_scale,
            bias=self.bias,
            out_dtype=FP8_OUTPUT,
            use_fast_accum=True,
        )
