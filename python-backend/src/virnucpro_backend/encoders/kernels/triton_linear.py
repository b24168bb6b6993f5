# mypy: ignore-errors
# ruff: noqa: N803, N806
"""gelu(h W^T + b) in one kernel for Hopper GPUs: the sum is still in FP32 registers when the GELU is taken
(Triton).

A matrix product alone is no faster than cuBLAS's here. What is saved is the pass of GELU over the widest
matrix of the model, 4 bytes for each of its numbers; and GELU sees sums that have not been rounded to half
precision first.

One program per multiprocessor takes tile after tile, so that the next tile's operands are fetched while the
last one's result is written. Tiles go down 16 blocks of rows before they move to the next columns: the
operands of the tiles in work at one time then stay in the L2 cache.
"""

from __future__ import annotations

import functools

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from virnucpro_backend.encoders.kernels.triton_gelu import gelu

ROWS, COLUMNS, DEPTH = 128, 256, 64
"""Tile of the result, and how deep a slice of the operands is fetched at a time; 176 KiB of shared memory."""


@triton.jit(do_not_specialize=["rows"])
def _linear_gelu(
    h_tiles,
    weight_tiles,
    out_tiles,
    bias_ptr,
    rows,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    ROWS_OF_TILES: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    tiles_down = tl.cdiv(rows, ROWS)
    TILES_ACROSS: tl.constexpr = OUTPUTS // COLUMNS
    HALF: tl.constexpr = COLUMNS // 2
    for tile in tl.range(tl.program_id(0), tiles_down * TILES_ACROSS, PROGRAMS, flatten=True):
        band = tile // (ROWS_OF_TILES * TILES_ACROSS)
        in_band = tile % (ROWS_OF_TILES * TILES_ACROSS)
        band_height = tl.minimum(tiles_down - band * ROWS_OF_TILES, ROWS_OF_TILES)
        row = (band * ROWS_OF_TILES + in_band % band_height) * ROWS
        column = (in_band // band_height) * COLUMNS

        total = tl.zeros((ROWS, COLUMNS), tl.float32)
        for step in range(0, INPUTS // DEPTH):
            h = h_tiles.load([row, step * DEPTH])
            weight = weight_tiles.load([column, step * DEPTH])
            total = tl.dot(h, weight.T, total)

        # In two halves: staging the whole tile for its way out would take the operands' shared memory.
        left, right = tl.split(tl.permute(tl.reshape(total, (ROWS, 2, HALF)), (0, 2, 1)))
        bias = bias_ptr + column + tl.arange(0, HALF)
        left = gelu(left + tl.load(bias).to(tl.float32)[None, :])
        out_tiles.store([row, column], left.to(out_tiles.dtype))
        right = gelu(right + tl.load(bias + HALF).to(tl.float32)[None, :])
        out_tiles.store([row, column + HALF], right.to(out_tiles.dtype))


def suits(weight: torch.Tensor) -> bool:
    """Whether the kernel takes a linear layer's weight [outputs, inputs], on the GPU where it lies."""
    outputs, inputs = weight.shape
    hopper = torch.cuda.get_device_capability(weight.device) == (9, 0)
    return hopper and outputs % COLUMNS == 0 and inputs % DEPTH == 0


def linear_gelu(h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """gelu(h weight^T + bias) [rows, outputs], exact (erf) form.

    h [rows, inputs] and weight [outputs, inputs]: contiguous, BF16 or FP16; bias [outputs] likewise. See
    `suits`.
    """
    (rows, inputs), outputs = h.shape, weight.shape[0]
    out = h.new_empty(rows, outputs)
    programs = _multiprocessors(h.device)
    _linear_gelu[(programs,)](
        TensorDescriptor.from_tensor(h, [ROWS, DEPTH]),
        TensorDescriptor.from_tensor(weight, [COLUMNS, DEPTH]),
        TensorDescriptor.from_tensor(out, [ROWS, COLUMNS // 2]),
        bias,
        rows,
        OUTPUTS=outputs,
        INPUTS=inputs,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        DEPTH=DEPTH,
        ROWS_OF_TILES=16,
        PROGRAMS=programs,
        num_warps=8,
        num_stages=3,
    )
    return out


@functools.cache
def _multiprocessors(device: torch.device) -> int:
    if device.type != "cuda":  # Triton's interpreter
        return 2
    return torch.cuda.get_device_properties(device).multi_processor_count
