"""The fused kernels agree with the eager code up to two units in the last place."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import StretchAttention
from virnucpro_backend.encoders.dnabert_s import alibi_slopes
from virnucpro_backend.encoders.float32 import LayerNorm, Rotary, Scores
from virnucpro_backend.encoders.fp8 import FP8, Fp8Rows, quantized
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops

fused = pytest.importorskip("virnucpro_backend.encoders.kernels.fused")

ROUNDING = {torch.float32: 1e-6, torch.float16: 2**-10, torch.bfloat16: 2**-7}
"""Two units in the last place, relative to the largest number of a row."""

LENGTHS = [1, 3, 63, 64, 65, 128, 129, 168, 192, 193, 300]
"""Lengths around every boundary between kernels and between blocks."""


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def layer_norm(width: int, eps: float, device: torch.device) -> LayerNorm:
    norm = LayerNorm(width, eps)
    norm.weight.copy_(1 + 0.3 * normal(1, width))
    norm.bias.copy_(0.3 * normal(2, width))
    return norm.to(device)


def assert_close(ours: Tensor, theirs: Tensor, dtype: torch.dtype) -> None:
    assert ours.dtype == theirs.dtype == dtype
    largest = theirs.float().abs().amax(dim=-1, keepdim=True)
    assert ((ours.float() - theirs.float()).abs() / largest).max() <= ROUNDING[dtype]


def assert_same_rows(ours: object, theirs: object) -> None:
    assert isinstance(ours, Fp8Rows)
    assert isinstance(theirs, Fp8Rows)
    torch.testing.assert_close(ours.scale, theirs.scale, rtol=1e-5, atol=0)
    values, expected = ours.values.float(), theirs.values.float()
    # Neighbouring FP8 numbers differ by at most 1/8; a number between two may be rounded to either.
    assert torch.allclose(values, expected, rtol=0.13, atol=2**-9)
    assert (values != expected).float().mean() < 0.01


def test_gelu_is_the_exact_form_to_fp32_rounding(device: torch.device) -> None:
    x = torch.linspace(-12, 12, 24_001).double().view(1, -1)
    exact = torch.from_numpy(np.vectorize(lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2)))(x.numpy()))
    ours = x.float().to(device)
    fused.gelu_inplace(ours)
    error = (ours.cpu().double() - exact).abs()
    assert error[x.abs() < 6].max() < 3e-7
    assert (error / x.abs().clamp(min=1)).max() < 1e-7
    near = (x > -3) & (x.abs() > 1e-3)
    assert (error / exact.abs())[near].max() < 4e-6


def test_gelu_preserves_non_finite_values(device: torch.device) -> None:
    x = torch.tensor([[math.nan, math.inf, 1.0, -math.inf]], device=device)
    fused.gelu_inplace(x)
    assert x.isnan().tolist() == [[True, False, False, False]]
    assert x[0, 1] == math.inf
    assert abs(float(x[0, 3])) < 1e-8


@pytest.mark.parametrize("width", [64, 96, 768, 2560])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_norms_agree_with_eager_code(device: torch.device, width: int, dtype: torch.dtype) -> None:
    norm = layer_norm(width, 1e-12 if width == 768 else 1e-5, device)
    x = (3 * normal(3, 7, width) + 1).to(device)
    update = normal(4, 7, width, dtype=dtype).to(device)
    for method in ("pre_norm", "post_norm"):
        x_ours, ours = getattr(fused.FusedOps(), method)(x.clone(), update, norm, dtype)
        x_theirs, theirs = getattr(Ops(), method)(x.clone(), update, norm, dtype)
        assert_close(x_ours, x_theirs, torch.float32)
        assert_close(ours, theirs, dtype)
    ours, theirs = (ops.norm(x, norm, torch.float32) for ops in (fused.FusedOps(), Ops()))
    assert_close(ours, theirs, torch.float32)


def test_norm_of_a_constant_row_uses_the_tiny_epsilon_in_fp32(device: torch.device) -> None:
    norm = layer_norm(768, 1e-12, device)
    out = fused.FusedOps().norm(torch.full((1, 768), 5.0, device=device), norm, torch.float16)
    assert torch.equal(out[0], norm.bias.half())


def test_fp8_rows_agree_with_eager_code(device: torch.device) -> None:
    norm = layer_norm(2560, 1e-5, device)
    x, update = normal(5, 5, 2560).to(device), normal(6, 5, 2560, dtype=torch.bfloat16).to(device)
    x[1] = 0
    update[1] = 0
    _, ours = fused.FusedOps().pre_norm(x.clone(), update, norm, FP8)
    _, theirs = Ops().pre_norm(x.clone(), update, norm, FP8)
    for mine, expected in ((ours, theirs), (fused.FusedOps().quantize(update), quantized(update))):
        if device.type == "cuda":
            assert_same_rows(mine, expected)
        else:  # The interpreter loses the carry when it rounds to FP8.
            torch.testing.assert_close(mine.scale, expected.scale, rtol=1e-5, atol=0)


@pytest.mark.parametrize("heads", [40, 12])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_attention_agrees_with_the_reference(device: torch.device, heads: int, dtype: torch.dtype) -> None:
    if device.type != "cuda" and dtype == torch.bfloat16:
        pytest.skip("no GPU, and Triton's interpreter multiplies BF16 matrices as integers")
    lengths = LENGTHS if device.type == "cuda" else LENGTHS[3:5] + LENGTHS[-3:]
    heads = heads if device.type == "cuda" else heads // 4
    layout = SequenceLayout.from_lengths(lengths, device)
    qkv = normal(7, layout.n_tokens, 3, heads, 64, dtype=dtype).to(device)
    slopes = torch.tensor(alibi_slopes(heads), device=device)
    rotary = Rotary(64).to(device).tables(layout.max_length)
    for scores in (Scores(0.125, rotary), Scores(0.125, alibi_slopes=slopes)):
        ours = fused.FusedAttention()(qkv, layout, scores)
        theirs = StretchAttention()(qkv.float(), layout, scores)
        assert ours.dtype == dtype
        assert (ours.float() - theirs).norm() / theirs.norm() < ROUNDING[dtype]
        for begin, end in pairwise(layout.cu_seqlens.tolist()):
            worst = (ours[begin:end].float() - theirs[begin:end]).abs().max()
            assert worst < 4 * ROUNDING[dtype] * theirs[begin:end].abs().max()


def test_attention_of_a_sequence_does_not_depend_on_its_neighbours(device: torch.device) -> None:
    tables = Rotary(64).to(device).tables(256)
    qkv = normal(8, 168, 3, 2, 64, dtype=torch.float16).to(device)
    scores = Scores(0.125, tables)
    alone = fused.FusedAttention()(qkv, SequenceLayout.from_lengths([168], device), scores)
    others = torch.full((70, 3, 2, 64), 9.0, dtype=torch.float16, device=device)
    among = torch.cat((others, qkv, others))
    packed = fused.FusedAttention()(among, SequenceLayout.from_lengths([70, 168, 70], device), scores)
    assert torch.equal(packed[70:238], alone)


def test_gated_gelu_agrees_with_eager_code(device: torch.device) -> None:
    linear = nn.Linear(64, 192, bias=False, dtype=torch.float16, device=device).requires_grad_(False)
    h = normal(9, 5, 64, dtype=torch.float16).to(device)
    ours, theirs = fused.FusedOps().linear_geglu(linear, h), Ops().linear_geglu(linear, h)
    assert_close(ours, theirs, torch.float16)
