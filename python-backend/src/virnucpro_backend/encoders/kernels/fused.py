"""Both encoders' elementwise steps and attention as fused CUDA kernels, for half precision and FP8."""

from __future__ import annotations

from collections import deque

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.float32 import LayerNorm, Scores
from virnucpro_backend.encoders.fp8 import FP8, Activations, Fp8Linear, Fp8Rows
from virnucpro_backend.encoders.kernels.attention_work import AttentionWork
from virnucpro_backend.encoders.kernels.triton_attention import attend_long, attend_short
from virnucpro_backend.encoders.kernels.triton_gelu import gated_gelu, gelu_inplace, quantize_rows
from virnucpro_backend.encoders.kernels.triton_norm import norm_rows
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops

LAYOUTS_KEPT = 8
"""More than the number of batches that go through one layer before the next."""


class FusedOps(Ops):
    """`Ops` with one pass over device memory per step."""

    name = "fused"

    def norm(self, x: Tensor, norm: LayerNorm, dtype: torch.dtype) -> Activations:
        """See `Ops.norm`."""
        return _norm(x, None, norm, dtype)

    def pre_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Activations]:
        """See `Ops.pre_norm`; the sum is written into the memory of x."""
        return x, _norm(x, update, norm, dtype)

    def post_norm(
        self, x: Tensor, update: Tensor, norm: LayerNorm, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """See `Ops.post_norm`; the norm is written into the memory of x."""
        out = torch.empty_like(x, dtype=dtype)
        norm_rows(x, update, norm.weight, norm.bias, norm.eps, out, residual_becomes="norm")
        return x, out

    def linear_gelu(self, linear: nn.Module, h: Activations) -> Activations:
        """See `Ops.linear_gelu`; the activation overwrites the product."""
        out: Tensor = linear(h)
        if isinstance(linear, Fp8Linear):
            rows = Fp8Rows.empty_like(out)
            quantize_rows(out, rows.values, rows.scale, with_gelu=True)
            return rows
        gelu_inplace(out)
        return out

    def linear_geglu(self, linear: nn.Linear, h: Tensor) -> Tensor:
        """See `Ops.linear_geglu`."""
        both: Tensor = linear(h)
        out = both.new_empty(both.shape[0], both.shape[1] // 2)
        gated_gelu(both, out)
        return out

    def quantize(self, x: Tensor) -> Fp8Rows:
        """See `Ops.quantize`."""
        rows = Fp8Rows.empty_like(x)
        quantize_rows(x, rows.values, rows.scale, with_gelu=False)
        return rows


def _norm(x: Tensor, update: Tensor | None, norm: LayerNorm, dtype: torch.dtype) -> Activations:
    if dtype == FP8:
        rows = Fp8Rows.empty_like(x)
        norm_rows(x, update, norm.weight, norm.bias, norm.eps, rows.values, rows.scale)
        return rows
    out = torch.empty_like(x, dtype=dtype)
    norm_rows(x, update, norm.weight, norm.bias, norm.eps, out)
    return out


class FusedAttention:
    """`encoders.attention.Attention` for packed sequences of any lengths, with rotation or ALiBi inside."""

    name = "fused"
    packs = True

    def __init__(self) -> None:
        self._planned: deque[tuple[SequenceLayout, AttentionWork]] = deque(maxlen=LAYOUTS_KEPT)

    def __call__(self, qkv: Tensor, layout: SequenceLayout, scores: Scores) -> Tensor:
        """See `Attention`; head_dim is 32, 64 or 128, the precision BF16 or FP16."""
        n_tokens, _, heads, head_dim = qkv.shape
        out = qkv.new_empty(n_tokens, heads * head_dim)
        work = self._work_for(layout, qkv.device)
        for blocks, ranges in work.short.items():
            self._attend_short(qkv, out, ranges, blocks, scores)
        if work.long is not None:
            attend_long(qkv, out, work.long, heads, scores)
        return out

    def _attend_short(self, qkv: Tensor, out: Tensor, ranges: Tensor, blocks: int, scores: Scores) -> None:
        attend_short(qkv, out, ranges, qkv.shape[2], blocks, scores)

    def _work_for(self, layout: SequenceLayout, device: torch.device) -> AttentionWork:
        """Every layer asks for the same layouts, so the work of the last ones is kept."""
        for planned, work in self._planned:
            if planned is layout:
                return work
        work = AttentionWork.on_device(layout.lengths, device)
        self._planned.append((layout, work))
        return work
