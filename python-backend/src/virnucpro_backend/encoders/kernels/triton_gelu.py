# mypy: ignore-errors
# ruff: noqa: N803
"""Exact (erf) GELU at memory bandwidth: plain, gated, and with FP8 rows as output (Triton).

CUDA's erff costs about 45 instructions per element, more than the time that device memory needs to move it.
This form costs 12:

    gelu(x) = x * Phi(x) = max(x, 0) - |x| * Phi(-|x|),      Phi(-a) = erfc(a / sqrt 2) / 2 = 2 ** P(a)

P is a polynomial of degree 8 for log2(erfc(a / sqrt 2) / 2) on [0, 6], fitted by iteratively reweighted
least squares with weight a * Phi(-a), so that the error of gelu is even: 7e-9 absolute before FP32 rounding,
2.5e-7 after (which is the rounding of results near 4), and 2e-6 relative for x > -3; tests/kernels check
this. Past a = 6 the second term is under 6e-9 and stays constant. NaN stays NaN, because the later check for
finite scores must see it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from virnucpro_backend.encoders.fp8 import FP8_LARGEST
from virnucpro_backend.encoders.kernels.triton_math import exp2


@triton.jit
def gelu(x):
    """gelu(x) of FP32 x, elementwise; see the module for the formula and its error."""
    a = tl.minimum(tl.abs(x), 6.0, propagate_nan=tl.PropagateNan.ALL)
    p = -1.6904002677620156e-06 * a + 2.508328907424584e-05
    p = p * a + -0.00011446259304648265
    p = p * a + -0.0003233423631172627
    p = p * a + 0.007333384361118078
    p = p * a + -0.05271419882774353
    p = p * a + -0.4591154456138611
    p = p * a + -1.151123285293579
    p = p * a + -0.9999988675117493
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL) - a * exp2(p)


@triton.jit(do_not_specialize=["rows"])
def _gelu_inplace(x_ptr, rows, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # With the bound a multiple of a constant WIDTH, accesses stay 16 bytes wide for any number of rows.
    inside = at < rows.to(tl.int64) * WIDTH
    x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(x_ptr + at, gelu(x).to(x_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _gated_gelu(x_ptr, out_ptr, HALF: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < HALF
    gate = tl.load(x_ptr + row * 2 * HALF + column, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(x_ptr + row * 2 * HALF + HALF + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * HALF + column, (gelu(gate) * value).to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _quantize_rows(
    x_ptr, out_ptr, scale_ptr,
    WIDTH: tl.constexpr, HEAD: tl.constexpr, TAIL: tl.constexpr, GELU: tl.constexpr, LARGEST: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, HEAD)
    tail = HEAD + tl.arange(0, TAIL)
    in_tail = tail < WIDTH
    y_head = tl.load(x_ptr + row * WIDTH + head).to(tl.float32)
    y_tail = tl.load(x_ptr + row * WIDTH + tail, mask=in_tail, other=0.0).to(tl.float32)
    if GELU:
        y_head = gelu(y_head)
        y_tail = gelu(y_tail)
    largest = tl.maximum(tl.max(tl.abs(y_head), 0), tl.max(tl.abs(y_tail), 0))
    scale = tl.maximum(largest, 1e-12) / LARGEST
    tl.store(scale_ptr + row, scale)
    per_scale = 1.0 / scale
    y_head = tl.clamp(y_head * per_scale, -LARGEST, LARGEST)
    y_tail = tl.clamp(y_tail * per_scale, -LARGEST, LARGEST)
    tl.store(out_ptr + row * WIDTH + head, y_head.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + row * WIDTH + tail, y_tail.to(out_ptr.dtype.element_ty), mask=in_tail)


def gelu_inplace(x: torch.Tensor) -> None:
    """Compute x = gelu(x) in FP32; x [rows, width] contiguous, any floating dtype."""
    rows, width = x.shape
    _gelu_inplace[(triton.cdiv(rows * width, 2048),)](x, rows, WIDTH=width, BLOCK=2048, num_warps=4)


def gated_gelu(x: torch.Tensor, out: torch.Tensor) -> None:
    """Compute out [rows, f] = gelu(x[:, :f]) * x[:, f:] in FP32; x [rows, 2f] contiguous."""
    rows, half = out.shape
    _gated_gelu[(rows, triton.cdiv(half, 1024))](x, out, HALF=half, BLOCK=1024, num_warps=4)


def quantize_rows(x: torch.Tensor, out: torch.Tensor, scale: torch.Tensor, *, with_gelu: bool) -> None:
    """Quantise gelu(x) or x to out (float8_e4m3fn) * scale [rows, 1]; each row is scaled so that its largest
    number is 448."""
    rows, width = x.shape
    head = 1 << (width.bit_length() - 1)
    _quantize_rows[(rows,)](
        x,
        out,
        scale,
        WIDTH=width,
        HEAD=head,
        TAIL=triton.next_power_of_2(max(width - head, 1)),
        GELU=with_gelu,
        LARGEST=FP8_LARGEST,
        num_warps=4,
    )
