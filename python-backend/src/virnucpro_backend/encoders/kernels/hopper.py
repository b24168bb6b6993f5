"""Faster versions of the fused steps for Hopper GPUs (H100, H200); the other steps come from `fused`."""

from __future__ import annotations

from typing import TypeGuard

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import StretchAttention
from virnucpro_backend.encoders.float32 import QueriesKeysValues, RotaryTables, Scores
from virnucpro_backend.encoders.fp8 import Activations
from virnucpro_backend.encoders.kernels import hopper_linear
from virnucpro_backend.encoders.kernels.fused import FusedAttention, FusedOps
from virnucpro_backend.encoders.kernels.hopper_attention import HEAD_DIM, attend_rotated
from virnucpro_backend.encoders.layout import SequenceLayout


class HopperOps(FusedOps):
    """`FusedOps` with GELU and rotation inside the linear layers, in BF16 and FP16."""

    name = "hopper"

    def linear_gelu(self, linear: nn.Module, h: Activations) -> Activations:
        """See `Ops.linear_gelu`; one kernel if the shapes suit it."""
        if _suits(linear) and isinstance(h, Tensor):
            return hopper_linear.linear_gelu(h, linear.weight, linear.bias)
        return super().linear_gelu(linear, h)

    def queries_keys_values(
        self, linear: nn.Module, h: Activations, layout: SequenceLayout, rotary: RotaryTables
    ) -> QueriesKeysValues:
        """See `Ops.queries_keys_values`; q and k are already rotated if the shapes suit the kernel."""
        head_dim = 2 * rotary.cos.shape[1]
        if _suits(linear) and isinstance(h, Tensor) and hopper_linear.suits_rotation(linear.weight, head_dim):
            qkv = hopper_linear.linear_rotated(h, linear.weight, linear.bias, rotary, layout.positions)
            return QueriesKeysValues(qkv, rotary=None)
        return super().queries_keys_values(linear, h, layout, rotary)


def _suits(linear: nn.Module) -> TypeGuard[nn.Linear]:
    return isinstance(linear, nn.Linear) and hopper_linear.suits(linear.weight)


class HopperAttention(FusedAttention):
    """`encoders.attention.Attention`; faster if the linear layer has already rotated q and k."""

    name = "hopper"

    def _attend_short(self, qkv: Tensor, out: Tensor, ranges: Tensor, blocks: int, scores: Scores) -> None:
        heads, head_dim = qkv.shape[2:]
        if scores.rotary is None and scores.alibi_slopes is None and head_dim == HEAD_DIM:
            attend_rotated(qkv, out, ranges, heads, blocks=blocks, scale=scores.scale)
        else:
            super()._attend_short(qkv, out, ranges, blocks, scores)


def agree_with_pytorch(device: torch.device, dtype: torch.dtype) -> bool:
    """Try the kernels on a GPU: whether their results agree with PyTorch's in this precision."""
    generator = torch.Generator(device).manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device).to(dtype)

    h, weight, bias = normal(300, 320), normal(768, 320) / 16, normal(768)
    expected = nn.functional.linear(h.float(), weight.float(), bias.float())
    angles = torch.outer(torch.arange(300, device=device), torch.linspace(1, 0, 32, device=device))
    rotary = RotaryTables(angles.cos(), angles.sin())
    layout = SequenceLayout.from_lengths([172, 100, 28], device)
    rotated = hopper_linear.linear_rotated(h, weight, bias, rotary, layout.positions)
    qkv = rotated.view(300, 3, 4, HEAD_DIM)
    mixed = HopperAttention()(qkv, layout, Scores(0.125))
    plain = StretchAttention()(
        expected.to(dtype).float().view(300, 3, 4, HEAD_DIM), layout, Scores(0.125, rotary)
    )
    activated = hopper_linear.linear_gelu(h, weight, bias)
    return _close(activated, nn.functional.gelu(expected)) and _close(mixed, plain)


def _close(ours: Tensor, theirs: Tensor) -> bool:
    return bool((ours.float() - theirs.float()).norm() < 2**-7 * theirs.float().norm())
