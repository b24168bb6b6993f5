"""Tests the kernels for Hopper GPUs. They have no interpreter, so they are tested only on such a GPU."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import StretchAttention, rotate
from virnucpro_backend.encoders.float32 import Rotary, Scores
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0), reason="no Hopper GPU here"
)

ROUNDING = {torch.float16: 2**-10, torch.bfloat16: 2**-7}
"""Two units in the last place, relative to the largest number of a row."""

DTYPES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["fp16", "bf16"])
ROWS = pytest.mark.parametrize("rows", [1, 63, 64, 65, 128, 300, 17_000])
HEADS = 4


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).cuda()


def linear_layer(inputs: int, outputs: int, dtype: torch.dtype) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, dtype=dtype, device="cuda").requires_grad_(False)
    linear.weight.copy_(normal(1, outputs, inputs) * inputs**-0.5)
    linear.bias.copy_(normal(2, outputs))
    return linear


def in_fp32(linear: nn.Linear, h: Tensor) -> Tensor:
    """Compute the layer without rounding, except that of its result."""
    return nn.functional.linear(h.float(), linear.weight.float(), linear.bias.float()).to(h.dtype).float()


def assert_close(ours: Tensor, theirs: Tensor, dtype: torch.dtype) -> None:
    largest = theirs.float().abs().amax(dim=-1, keepdim=True)
    assert ((ours.float() - theirs.float()).abs() / largest).max() <= ROUNDING[dtype]


@DTYPES
@ROWS
def test_gelu_inside_a_linear_layer(dtype: torch.dtype, rows: int) -> None:
    from virnucpro_backend.encoders.kernels.hopper import HopperOps

    linear, h = linear_layer(320, 1024, dtype), normal(3, rows, 320).to(dtype)
    ours = HopperOps().linear_gelu(linear, h)
    assert isinstance(ours, Tensor)
    assert_close(ours, nn.functional.gelu(in_fp32(linear, h)), dtype)
    assert torch.equal(HopperOps().linear_gelu(linear, h), ours), "the same input gives the same bits"


@DTYPES
@ROWS
def test_rotation_inside_a_linear_layer(dtype: torch.dtype, rows: int) -> None:
    from virnucpro_backend.encoders.kernels.hopper import HopperOps

    linear, h = linear_layer(128, 3 * HEADS * 64, dtype), normal(4, rows, 128).to(dtype)
    layout = SequenceLayout.from_lengths(
        [*([168] * (rows // 168)), *([rows % 168] if rows % 168 else [])], "cuda"
    )
    rotary = Rotary(64).cuda().tables(layout.max_length)
    ours, left = HopperOps().queries_keys_values(linear, h, layout, rotary)
    assert left is None
    q, k, v = in_fp32(linear, h).to(dtype).view(rows, 3, HEADS, 64).unbind(1)
    cos, sin = rotary.cos[layout.positions][:, None], rotary.sin[layout.positions][:, None]
    theirs = torch.stack((rotate(q, cos, sin), rotate(k, cos, sin), v), dim=1).flatten(1)
    assert_close(ours, theirs, dtype)


@DTYPES
def test_attention_to_rotated_keys(dtype: torch.dtype) -> None:
    from virnucpro_backend.encoders.kernels.hopper import HopperAttention

    lengths = [1, 3, 63, 64, 65, 128, 129, 168, 192, 193, 300]
    layout = SequenceLayout.from_lengths(lengths, "cuda")
    qkv = normal(7, layout.n_tokens, 3, HEADS, 64).to(dtype)
    ours = HopperAttention()(qkv, layout, Scores(0.125))
    theirs = StretchAttention()(qkv.float(), layout, Scores(0.125))
    for begin, end in pairwise(layout.cu_seqlens.tolist()):
        worst = (ours[begin:end].float() - theirs[begin:end]).abs().max()
        assert worst < 4 * ROUNDING[dtype] * theirs[begin:end].abs().max()


@pytest.mark.parametrize("length", [50, 64, 70, 128, 168, 192])
def test_neither_a_neighbours_numbers_nor_its_nan_reach_a_sequence(length: int) -> None:
    from virnucpro_backend.encoders.kernels.hopper import HopperAttention

    qkv = normal(8, length, 3, HEADS, 64).half()
    alone = HopperAttention()(qkv, SequenceLayout.from_lengths([length], "cuda"), Scores(0.125))
    others = torch.full((70, 3, HEADS, 64), math.nan, dtype=torch.float16, device="cuda")
    layout = SequenceLayout.from_lengths([70, length, 70], "cuda")
    packed = HopperAttention()(torch.cat((others, qkv, others)), layout, Scores(0.125))
    assert torch.equal(packed[70 : 70 + length], alone)
    assert packed[:70].isnan().all()
    assert packed[70 + length :].isnan().all()


def test_nan_stays_nan() -> None:
    """The later check for finite scores must see it."""
    from virnucpro_backend.encoders.kernels.hopper import HopperOps

    linear, h = linear_layer(128, 256, torch.float16), normal(9, 130, 128).half()
    h[77, 5] = math.nan
    result = HopperOps().linear_gelu(linear, h)
    assert isinstance(result, Tensor)
    assert result[77].isnan().all()
    assert not result[:77].isnan().any()
    assert not result[78:].isnan().any()


def test_layers_of_other_sizes_use_the_general_code() -> None:
    from virnucpro_backend.encoders.kernels.hopper import HopperOps

    linear, h = linear_layer(96, 320, torch.float16), normal(10, 20, 96).half()
    gelu, theirs = HopperOps().linear_gelu(linear, h), Ops().linear_gelu(linear, h)
    assert isinstance(gelu, Tensor)
    assert isinstance(theirs, Tensor)
    assert_close(gelu, theirs, torch.float16)
