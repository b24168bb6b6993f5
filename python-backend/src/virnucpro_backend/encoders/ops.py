"""The elementwise steps between the matrix products, behind one face.

`EagerOps` is plain PyTorch and runs everywhere. Fused kernels offer the same methods with the same rounding
points, so that the encoders' text does not change with the hardware: sums, normalisation and activation are
computed in FP32, and only what goes into a matrix product is rounded to the run's precision.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from virnucpro_backend.encoders.float32 import LayerNorm


class Ops(Protocol):
    """x: residual stream FP32 [T, d], may be overwritten. update: [T, d] in the run's precision (dtype)."""

    name: str

    def norm(self, x: Tensor, norm: LayerNorm, dtype: torch.dtype) -> Tensor:
        """LN(x), rounded to dtype."""
        ...

    def pre_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """x' = x + update in FP32; returns x' and LN(x') rounded to dtype."""
        ...

    def post_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """x' = LN(x + update) in FP32; returns x' and x' rounded to dtype."""
        ...

    def linear_gelu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        """gelu(linear(h)), exact (erf) form: the tanh form is off by up to 4.7e-4 per activation."""
        ...

    def linear_geglu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        """With linear(h) = [a, b] split in halves: gelu(a) * b, exact (erf) form."""
        ...


class EagerOps:
    """Plain PyTorch."""

    name = "eager"

    def norm(self, x: Tensor, norm: LayerNorm, dtype: torch.dtype) -> Tensor:
        normed: Tensor = F.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)
        return normed.to(dtype)

    def pre_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        x = x.add_(update)
        return x, self.norm(x, norm, dtype)

    def post_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        x = self.norm(x.add_(update), norm, torch.float32)
        return x, x.to(dtype)

    def linear_gelu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        return F.gelu(linear(h))

    def linear_geglu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        activated, gate = linear(h).chunk(2, dim=-1)
        out: Tensor = F.gelu(activated) * gate
        return out


def choose_ops(device: torch.device, dtype: torch.dtype) -> Ops:
    """The fastest implementation that this device has for this precision."""
    return EagerOps()
