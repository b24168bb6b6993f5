"""Attention in its plainest form, to which tests compare every other strategy."""

from __future__ import annotations

import torch
from torch import Tensor

from virnucpro_backend.encoders.float32 import RotaryTables
from virnucpro_backend.encoders.layout import SequenceLayout


class PackedReferenceAttention:
    """Handles any lengths on any hardware, one sequence at a time, in plain FP32. Slow: a reference."""

    name = "packed_reference"
    packs = True

    def __call__(
        self,
        qkv: Tensor,
        layout: SequenceLayout,
        *,
        scale: float,
        rotary: RotaryTables | None = None,
        alibi_slopes: Tensor | None = None,
    ) -> Tensor:
        """See `encoders.attention.Attention`."""
        n_tokens, _, heads, head_dim = qkv.shape
        out = torch.empty(n_tokens, heads, head_dim, dtype=qkv.dtype, device=qkv.device)
        begin = 0
        for length in layout.lengths:
            end = begin + length
            q, k, v = qkv[begin:end].float().permute(1, 2, 0, 3)
            if rotary is not None:
                cos, sin = rotary.cos[:length], rotary.sin[:length]
                q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            scores = scale * (q @ k.transpose(-1, -2))
            if alibi_slopes is not None:
                scores += alibi_bias(alibi_slopes, length)
            out[begin:end] = (scores.softmax(dim=-1) @ v).transpose(0, 1)
            begin = end
        return out.view(n_tokens, heads * head_dim)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate x [..., head_dim] by the angles FP32 [..., head_dim / 2], computing in FP32.

    Half-split layout: component i is paired with component i + head_dim / 2.
    """
    x32 = x.float()
    half = cos.shape[-1]
    rotated = x32 * torch.cat((cos, cos), dim=-1)
    rotated[..., :half].addcmul_(x32[..., half:], sin, value=-1)
    rotated[..., half:].addcmul_(x32[..., :half], sin)
    return rotated.to(x.dtype)


def alibi_bias(slopes: Tensor, length: int) -> Tensor:
    """-slope * |i - j|, FP32 [heads, length, length] (Press et al. 2022, arXiv:2108.12409, both sides)."""
    positions = torch.arange(length, dtype=torch.float32, device=slopes.device)
    return -slopes[:, None, None] * (positions[:, None] - positions[None, :]).abs()
