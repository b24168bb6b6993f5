# mypy: ignore-errors
# ruff: noqa: N803
"""LayerNorm over the FP32 residual stream in one pass over device memory (Triton).

There is one program per row. A row of `width` numbers is held as a power of two (HEAD) and a rest (TAIL,
masked when it is no power of two), because 2560 and 768 are 1.25 and 1.5 powers of two: in one masked block
of the next power a third of the lanes would idle. (Triton's dialect has no types; hence no mypy.)
"""

from __future__ import annotations

from typing import Literal

import torch
import triton
import triton.language as tl

from virnucpro_backend.encoders.fp8 import FP8_LARGEST


@triton.jit
def _norm_row(
    residual_ptr,
    delta_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    scale_ptr,
    eps,
    WIDTH: tl.constexpr,
    HEAD: tl.constexpr,
    TAIL: tl.constexpr,
    HAS_DELTA: tl.constexpr,
    STORE_SUM: tl.constexpr,
    STORE_NORM: tl.constexpr,
    QUANTIZE: tl.constexpr,
    LARGEST: tl.constexpr,
):
    row = tl.program_id(0)
    head = tl.arange(0, HEAD)
    tail = HEAD + tl.arange(0, TAIL)
    in_tail = tail < WIDTH
    base = row.to(tl.int64) * WIDTH
    x_head = tl.load(residual_ptr + base + head)
    x_tail = tl.load(residual_ptr + base + tail, mask=in_tail, other=0.0)
    if HAS_DELTA:
        x_head += tl.load(delta_ptr + base + head).to(tl.float32)
        x_tail += tl.load(delta_ptr + base + tail, mask=in_tail, other=0.0).to(tl.float32)
    if STORE_SUM:
        tl.store(residual_ptr + base + head, x_head)
        tl.store(residual_ptr + base + tail, x_tail, mask=in_tail)

    # Round divisions correctly: in a constant row, the error of the mean is divided by almost zero.
    mean = tl.div_rn(tl.sum(x_head, 0) + tl.sum(x_tail, 0), WIDTH * 1.0)
    centred_head = x_head - mean
    centred_tail = tl.where(in_tail, x_tail - mean, 0.0)
    squares = tl.sum(centred_head * centred_head, 0) + tl.sum(centred_tail * centred_tail, 0)
    inverse = tl.div_rn(1.0, tl.sqrt_rn(tl.div_rn(squares, WIDTH * 1.0) + eps))
    y_head = centred_head * inverse * tl.load(weight_ptr + head) + tl.load(bias_ptr + head)
    weight_tail = tl.load(weight_ptr + tail, mask=in_tail, other=0.0)
    y_tail = centred_tail * inverse * weight_tail + tl.load(bias_ptr + tail, mask=in_tail, other=0.0)
    if STORE_NORM:
        tl.store(residual_ptr + base + head, y_head)
        tl.store(residual_ptr + base + tail, y_tail, mask=in_tail)
    if QUANTIZE:
        largest = tl.maximum(tl.max(tl.abs(y_head), 0), tl.max(tl.abs(y_tail), 0))
        scale = tl.maximum(largest, 1e-12) / LARGEST
        tl.store(scale_ptr + row, scale)
        per_scale = 1.0 / scale
        y_head = tl.clamp(y_head * per_scale, -LARGEST, LARGEST)
        y_tail = tl.clamp(y_tail * per_scale, -LARGEST, LARGEST)
    tl.store(out_ptr + base + head, y_head.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + base + tail, y_tail.to(out_ptr.dtype.element_ty), mask=in_tail)


def norm_rows(
    residual: torch.Tensor,
    delta: torch.Tensor | None,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    out: torch.Tensor,
    scale: torch.Tensor | None = None,
    *,
    residual_becomes: Literal["sum", "norm"] = "sum",
) -> None:
    """Compute out = LayerNorm(residual + delta) in `out`'s dtype.

    residual [rows, width] FP32 contiguous; delta the same shape in half precision, or None; weight, bias
    [width] FP32. `residual_becomes`: "sum" (pre-LN: residual + delta is written back; nothing is written
    without a delta) or "norm" (post-LN: the FP32 norm is written back). With `scale` [rows, 1] FP32, `out`
    is float8_e4m3fn and a row stands for out * scale.
    """
    rows, width = residual.shape
    head = 1 << (width.bit_length() - 1)
    _norm_row[(rows,)](
        residual,
        delta,
        weight,
        bias,
        out,
        scale,
        eps,
        WIDTH=width,
        HEAD=head,
        TAIL=triton.next_power_of_2(max(width - head, 1)),
        HAS_DELTA=delta is not None,
        STORE_SUM=delta is not None and residual_becomes == "sum",
        STORE_NORM=residual_becomes == "norm",
        QUANTIZE=scale is not None,
        LARGEST=FP8_LARGEST,
        num_warps=4,
    )
