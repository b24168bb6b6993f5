"""The elementwise steps between the matrix products.

`Ops` is plain PyTorch and runs everywhere. Fused kernels override its methods with the same rounding
points, so the encoders' code does not depend on the hardware: sums, normalisation and activation are computed
in FP32, and only the operands of matrix products are rounded to the run's precision.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.float32 import LayerNorm, QueriesKeysValues, RotaryTables
from virnucpro_backend.encoders.fp8 import FP8, Activations, Fp8Linear, Fp8Rows, quantized
from virnucpro_backend.encoders.layout import SequenceLayout


class Ops:
    """Plain PyTorch.

    x: residual stream FP32 [T, d], may be overwritten. update: [T, d] in the run's precision (dtype). If
    dtype is FP8, update is BF16, and the input of the next linear layer is returned as FP8 rows.
    """

    name = "eager"

    def norm(self, x: Tensor, norm: LayerNorm, dtype: torch.dtype) -> Activations:
        """LN(x), rounded to dtype."""
        normed = _layer_norm(x, norm)
        return quantized(normed) if dtype == FP8 else normed.to(dtype)

    def pre_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Activations]:
        """Compute x' = x + update in FP32; return x' and LN(x') rounded to dtype."""
        x = x.add_(update)
        return x, self.norm(x, norm, dtype)

    def post_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """Compute x' = LN(x + update) in FP32; return x' and x' rounded to dtype."""
        x = _layer_norm(x.add_(update), norm)
        return x, x.to(dtype)

    def linear_gelu(self, linear: nn.Module, h: Activations) -> Activations:
        """Compute gelu(linear(h)) in the exact (erf) form; the tanh form is off by up to 4.7e-4."""
        # In place, because no other array of a layer is as large.
        activated: Tensor = torch.ops.aten.gelu_(linear(h))
        return quantized(activated) if isinstance(linear, Fp8Linear) else activated

    def linear_geglu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        """Compute gelu(a) * b in the exact (erf) form, with linear(h) = [a, b] split in halves."""
        activated, gate = linear(h).chunk(2, dim=-1)
        return F.gelu(activated).mul_(gate)

    def queries_keys_values(
        self, linear: nn.Module, h: Activations, layout: SequenceLayout, rotary: RotaryTables
    ) -> QueriesKeysValues:
        """Compute linear(h), with q and k rotated if that can be done in the same pass."""
        return QueriesKeysValues(linear(h), rotary)

    def quantize(self, x: Tensor) -> Fp8Rows:
        """Convert x [T, d] to FP8 rows."""
        return quantized(x)


def _layer_norm(x: Tensor, norm: LayerNorm) -> Tensor:
    out: Tensor = F.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)
    return out


def choose_ops(device: torch.device, dtype: torch.dtype, *, fused: bool = True) -> Ops:
    """The fastest implementation on this device for this precision; plain PyTorch if not `fused`."""
    if fused and kernels.hopper_usable(device, dtype):
        from virnucpro_backend.encoders.kernels.hopper import HopperOps

        return HopperOps()
    if fused and kernels.usable(device, dtype):
        from virnucpro_backend.encoders.kernels.fused import FusedOps

        return FusedOps()
    return Ops()
