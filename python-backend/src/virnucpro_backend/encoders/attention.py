"""Self-attention within each sequence of a flat batch: one strategy per kind of hardware.

Every strategy takes `qkv` [T, 3, heads, head_dim] (not yet rotated or scaled, in the run's precision) and
returns [T, heads * head_dim] in the same precision. Rotation, scores and softmax are FP32.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.float32 import Scores
from virnucpro_backend.encoders.layout import SequenceLayout


class Attention(Protocol):
    """Computes the weighted mean of v within each sequence, with the weights that `Scores` describes."""

    name: str
    packs: bool
    """Whether sequences of different lengths may share a batch."""

    def __call__(self, qkv: Tensor, layout: SequenceLayout, scores: Scores) -> Tensor:
        """Map qkv [T, 3, heads, head_dim] in the run's precision to [T, heads * head_dim] in the same."""
        ...


class EqualLengthAttention:
    """Works on any hardware, on batches of sequences of equal length: needs no padding and no mask."""

    name = "equal_length"
    packs = False

    def __call__(self, qkv: Tensor, layout: SequenceLayout, scores: Scores) -> Tensor:
        """See `Attention`. Raises ValueError for a batch with sequences of different lengths."""
        length = layout.equal_length
        if length is None:
            raise ValueError("this attention needs sequences of equal length")
        return _of_equal_length(qkv, length, scores)


class StretchAttention:
    """For processors: packed batches, whose neighbours of one length are attended to together.

    A processor multiplies a few dozen rows much more slowly than 500, and packed batches are full whatever
    the lengths. They are sorted by length, so there are as few stretches as lengths.
    """

    name = "stretches"
    packs = True

    def __call__(self, qkv: Tensor, layout: SequenceLayout, scores: Scores) -> Tensor:
        """See `Attention`."""
        stretches = [_of_equal_length(qkv[where], length, scores) for where, length in layout.stretches()]
        return stretches[0] if len(stretches) == 1 else torch.cat(stretches)


def _of_equal_length(qkv: Tensor, length: int, scores: Scores) -> Tensor:
    n_tokens, _, heads, head_dim = qkv.shape
    scale, rotary, alibi_slopes = scores
    q, k, v = qkv.view(-1, length, 3, heads, head_dim).permute(2, 0, 3, 1, 4)
    if rotary is not None:
        cos, sin = rotary.cos[:length], rotary.sin[:length]
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    bias = None
    if alibi_slopes is not None:
        # The bias has no room in half precision (0.03 off at distance 100 in FP16), so all of it is FP32.
        q, k, v = q.float(), k.float(), v.float()
        bias = alibi_bias(alibi_slopes, length)[None]
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
    return out.transpose(1, 2).reshape(n_tokens, heads * head_dim).to(qkv.dtype)


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


class VarlenAttention:
    """PyTorch's variable-length flash attention, for NVIDIA GPUs from 8.0 on, in half precision."""

    name = "varlen"
    packs = True

    def __init__(self) -> None:
        self._kernel = varlen_kernel()

    def __call__(self, qkv: Tensor, layout: SequenceLayout, scores: Scores) -> Tensor:
        """See `Attention`. Raises ValueError for a linear bias, which this kernel doesn't support."""
        scale, rotary, alibi_slopes = scores
        if alibi_slopes is not None:
            raise ValueError("variable-length flash attention has no ALiBi")
        q, k, v = qkv.unbind(1)
        if rotary is not None:
            cos, sin = rotary.cos[layout.positions][:, None], rotary.sin[layout.positions][:, None]
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        cu_seqlens, longest = layout.cu_seqlens, layout.max_length
        return self._kernel(q, k, v, cu_seqlens, cu_seqlens, longest, longest, scale=scale).flatten(1)


def varlen_kernel() -> Callable[..., Tensor]:
    """Return `varlen_attn` with the arguments that this PyTorch accepts.

    From 2.12 on `num_splits=1` makes a sequence's result independent of its neighbours in the batch; earlier
    versions have no such argument. Every version defaults to no window and no causal mask. Raises
    RuntimeError with a PyTorch before 2.11, whose kernel takes no scale.
    """
    from torch.nn.attention.varlen import varlen_attn

    known = inspect.signature(varlen_attn).parameters
    fixed: dict[str, Any] = {"num_splits": 1} if "num_splits" in known else {}
    if "scale" not in known:
        raise RuntimeError("this PyTorch is too old: its varlen_attn has no scale (2.11 or newer is needed)")

    return functools.partial(cast(Callable[..., Tensor], varlen_attn), **fixed)


def choose_attention(
    device: torch.device, dtype: torch.dtype, *, head_dim: int, alibi: bool, fused: bool = True
) -> Attention:
    """The fastest strategy on this device for linear layers of this precision, `fused` or not."""
    if fused and kernels.hopper_usable(device, dtype) and head_dim in kernels.HEAD_DIMS:
        from virnucpro_backend.encoders.kernels.hopper import HopperAttention

        return HopperAttention()
    if fused and kernels.usable(device, dtype) and head_dim in kernels.HEAD_DIMS:
        from virnucpro_backend.encoders.kernels.fused import FusedAttention

        return FusedAttention()
    packs = device.type == "cuda" and dtype in kernels.HALF_PRECISION and not alibi
    if packs and torch.cuda.get_device_capability(device) >= (8, 0):
        return VarlenAttention()
    return StretchAttention() if device.type == "cpu" else EqualLengthAttention()
