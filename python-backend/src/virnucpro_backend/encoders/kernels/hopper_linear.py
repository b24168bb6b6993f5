# mypy: ignore-errors
# ruff: noqa: N803, N806, RUF005, SIM102
"""Linear layers for Hopper GPUs, fused with the following step (Gluon, Triton's lower-level dialect).

For ESM-2's shapes the product alone is no faster than cuBLAS's. The fusion saves the pass over device memory
that would follow it (GELU, or the rotation of q and k), and the tensor cores don't wait for that step: other
warps do it while they compute the next tile.

One program per multiprocessor takes tile after tile of 128 x 256 results. Its warps have different tasks:

    _fetch     1 warp         loads slices of h and W from device memory, up to three ahead
    _multiply  2 x 4 warps    64 rows each: sums in FP32 registers, adds the bias, rounds, stores for ...
    _finish    2 warps        ... GELU or rotation, in FP32; then stores to device memory

They wait for each other at barriers in shared memory: a slice is `full`, then `empty`; half a tile of results
is `result_full`, then `result_empty`. README.md beside this file shows who waits for whom at which phase.
"""

from __future__ import annotations

import functools

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from virnucpro_backend.encoders.float32 import RotaryTables
from virnucpro_backend.encoders.kernels.gluon_names import (
    load_tile,
    store_tile,
    tile_descriptor,
    viewed,
    wait_for_stores,
)
from virnucpro_backend.encoders.kernels.triton_gelu import gelu

ROWS, COLUMNS, DEPTH = 128, 256, 64
"""The shape of a tile of the result, and the depth of a slice of the operands."""

STAGES = 3
"""Slices in shared memory: 208 KiB with the tile that is being finished (see README.md for the sum)."""

HALF: gl.constexpr = gl.constexpr(ROWS // 2)
HEAD: gl.constexpr = gl.constexpr(64)
"""Columns that are finished at a time: one attention head."""

STRIP: gl.constexpr = gl.constexpr(16)
"""Rows that are finished at a time."""

BAND: gl.constexpr = gl.constexpr(16)
"""How many rows of tiles are computed before the next columns, so that the operands of tiles computed at the
same time stay in the L2 cache."""

THREADS_REGISTERS, MULTIPLY_REGISTERS, FETCH_REGISTERS = 168, 200, 24
"""Registers per thread, at the start and after the warps have redistributed them by task; see README.md."""


@gluon.jit
def _tile_at(tile, rows, across, COLUMNS: gl.constexpr):
    """Return the first row and column of a tile."""
    band = tile // (BAND * across)
    in_band = tile % (BAND * across)
    height = gl.minimum(gl.cdiv(rows, 2 * HALF) - band * BAND, BAND)
    return (band * BAND + in_band % height) * (2 * HALF), in_band // height * COLUMNS


@gluon.jit
def _fetch(h, weight, slices, barriers, rows, steps, across):
    h_slices, weight_slices = slices
    full, empty, _result_full, _result_empty = barriers
    COLUMNS: gl.constexpr = weight.block_type.shape[0]
    DEPTH: gl.constexpr = weight.block_type.shape[1]
    STAGES: gl.constexpr = h_slices.type.shape[0]
    stage = 0
    phase = 1
    for tile in range(gl.program_id(0), gl.cdiv(rows, 2 * HALF) * across, gl.num_programs(0)):
        row, column = _tile_at(tile, rows, across, COLUMNS)
        for step in range(steps):
            mbarrier.wait(empty.index(stage), phase)
            mbarrier.expect(full.index(stage), h.block_type.nbytes + weight.block_type.nbytes)
            load_tile(h, [row, step * DEPTH], full.index(stage), h_slices.index(stage))
            load_tile(weight, [column, step * DEPTH], full.index(stage), weight_slices.index(stage))
            stage += 1
            if stage == STAGES:
                stage = 0
                phase ^= 1


@gluon.jit
def _multiply(slices, bias_ptr, results, barriers, rows, steps, across, NTH_HALF: gl.constexpr):
    h_slices, weight_slices = slices
    full, empty, result_full, result_empty = barriers
    COLUMNS: gl.constexpr = weight_slices.type.shape[1]
    STAGES: gl.constexpr = h_slices.type.shape[0]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLUMNS, 16])
    bias_ptrs = bias_ptr + gl.arange(0, COLUMNS, layout=gl.SliceLayout(0, layout))
    total = gl.zeros([HALF, COLUMNS], gl.float32, layout)
    stage = 0
    phase = 0
    last = 0
    result_phase = 1
    for tile in range(gl.program_id(0), gl.cdiv(rows, 2 * HALF) * across, gl.num_programs(0)):
        _row, column = _tile_at(tile, rows, across, COLUMNS)
        for step in range(steps):
            mbarrier.wait(full.index(stage), phase)
            my_rows = h_slices.index(stage).slice(NTH_HALF * HALF, HALF, dim=0)
            columns = weight_slices.index(stage).permute((1, 0))
            total = warpgroup_mma(my_rows, columns, total, use_acc=step > 0, is_async=True)
            # Wait for the previous product only after this one has been queued.
            total = warpgroup_mma_wait(num_outstanding=1, deps=(total,))
            mbarrier.arrive(empty.index(last), pred=step > 0)
            last = stage
            stage += 1
            if stage == STAGES:
                stage = 0
                phase ^= 1
        total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
        mbarrier.arrive(empty.index(last))
        bias = gl.load(bias_ptrs + column).to(gl.float32)
        rounded = (total + gl.expand_dims(bias, 0)).to(results.dtype)
        mbarrier.wait(result_empty.index(NTH_HALF), result_phase)
        results.index(NTH_HALF).store(rounded)
        fence_async_shared()
        mbarrier.arrive(result_full.index(NTH_HALF))
        result_phase ^= 1


@gluon.jit
def _finish(results, out, angles, barriers, rows, across, THEN: gl.constexpr):
    _full, _empty, result_full, result_empty = barriers
    positions_ptr, cos_ptr, sin_ptr = angles
    COLUMNS: gl.constexpr = results.type.shape[2]
    PIECES: gl.constexpr = COLUMNS // HEAD
    STRIPS: gl.constexpr = HALF // STRIP
    # In memory, half a tile is a sequence of pieces of 64 columns, each stored row by row.
    pieces = viewed(results, [2 * PIECES, HALF, HEAD])
    strips = viewed(results, [2 * PIECES * STRIPS, STRIP, HEAD])
    # A thread holds 8 neighbouring columns of a row and the 8 half a head further: the pairs to rotate.
    whole: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [0, 32]], [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], [[8, 0]], [],
        [STRIP, HEAD],
    )  # fmt: skip
    halves: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [2, 1], [1, 0])
    phase = 0
    for tile in range(gl.program_id(0), gl.cdiv(rows, 2 * HALF) * across, gl.num_programs(0)):
        tile_row, column = _tile_at(tile, rows, across, COLUMNS)
        for half in range(2):
            row = tile_row + half * HALF
            first_piece = half * PIECES
            mbarrier.wait(result_full.index(half), phase)
            if THEN == "gelu":
                for nth in range(PIECES * STRIPS):
                    strip = strips.index(first_piece * STRIPS + nth)
                    strip.store(gelu(strip.load(whole).to(gl.float32)).to(results.dtype))
            if THEN == "rotate":
                # The columns are those of q, k and v; v is not rotated.
                if column < across * COLUMNS // 3 * 2:
                    for nth in range(STRIPS):
                        token = row + nth * STRIP + gl.arange(0, STRIP, layout=gl.SliceLayout(1, halves))
                        position = gl.load(positions_ptr + token, mask=token < rows, other=0)
                        angle = gl.expand_dims(position, 1) * (HEAD // 2)
                        angle += gl.expand_dims(gl.arange(0, HEAD // 2, layout=gl.SliceLayout(0, halves)), 0)
                        cos = gl.load(cos_ptr + angle)
                        sin = gl.load(sin_ptr + angle)
                        for piece in gl.static_range(PIECES):
                            strip = strips.index((first_piece + piece) * STRIPS + nth)
                            pairs = strip.load(whole).to(gl.float32).reshape([STRIP, 2, HEAD // 2])
                            low, high = gl.split(pairs.permute((0, 2, 1)))
                            low = gl.convert_layout(low, halves, assert_trivial=True)
                            high = gl.convert_layout(high, halves, assert_trivial=True)
                            rotated = gl.join(low * cos - high * sin, high * cos + low * sin)
                            rotated = rotated.permute((0, 2, 1)).reshape([STRIP, HEAD]).to(results.dtype)
                            strip.store(gl.convert_layout(rotated, whole, assert_trivial=True))
            fence_async_shared()
            for piece in range(PIECES):
                store_tile(out, [row, column + piece * HEAD], pieces.index(first_piece + piece))
            wait_for_stores()
            mbarrier.arrive(result_empty.index(half))
        phase ^= 1


@gluon.jit(do_not_specialize=["rows", "steps", "across"])
def _linear(
    h, weight, out, bias_ptr, positions_ptr, cos_ptr, sin_ptr, rows, steps, across,
    STAGES: gl.constexpr, THEN: gl.constexpr,
    MULTIPLY_REGISTERS: gl.constexpr, FINISH_REGISTERS: gl.constexpr, FETCH_REGISTERS: gl.constexpr,
):  # fmt: skip
    COLUMNS: gl.constexpr = weight.block_type.shape[0]
    h_slices = gl.allocate_shared_memory(h.dtype, [STAGES] + h.block_type.shape, h.layout)
    weight_slices = gl.allocate_shared_memory(h.dtype, [STAGES] + weight.block_type.shape, weight.layout)
    results = gl.allocate_shared_memory(h.dtype, [2, HALF, COLUMNS], h.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    result_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    result_empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    for half in gl.static_range(2):
        mbarrier.init(result_full.index(half), count=1)
        mbarrier.init(result_empty.index(half), count=1)
    slices = (h_slices, weight_slices)
    barriers = (full, empty, result_full, result_empty)
    angles = (positions_ptr, cos_ptr, sin_ptr)
    gl.warp_specialize(
        [
            (_multiply, (slices, bias_ptr, results, barriers, rows, steps, across, 0)),
            (_multiply, (slices, bias_ptr, results, barriers, rows, steps, across, 1)),
            (_finish, (results, out, angles, barriers, rows, across, THEN)),
            (_fetch, (h, weight, slices, barriers, rows, steps, across)),
        ],
        [4, 2, 1],
        [MULTIPLY_REGISTERS, FINISH_REGISTERS, FETCH_REGISTERS],
    )


def suits(weight: torch.Tensor) -> bool:
    """Whether the kernels take a linear layer's weight [outputs, inputs]."""
    outputs, inputs = weight.shape
    return outputs % COLUMNS == 0 and inputs % DEPTH == 0


def linear_gelu(h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Compute gelu(h weight^T + bias) [rows, outputs], exact (erf), from products rounded to h's precision.

    h [rows, inputs] and weight [outputs, inputs]: contiguous, BF16 or FP16; bias [outputs] likewise. See
    `suits`.
    """
    return _launch("gelu", h, weight, bias)


def suits_rotation(weight: torch.Tensor, head_dim: int) -> bool:
    """Whether `linear_rotated` takes the weight [3 * heads * head_dim, inputs] of q, k and v."""
    return suits(weight) and head_dim == int(HEAD) and weight.shape[0] // 3 % COLUMNS == 0


def linear_rotated(
    h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, rotary: RotaryTables, positions: torch.Tensor
) -> torch.Tensor:
    """Compute q, k and v [rows, 3 * heads * 64], with q and k rotated by the angles of their positions.

    Arguments are those of `linear_gelu`, positions int32 [rows] and rotary FP32 [positions, 32]. The
    rotation is computed in FP32 from products rounded to h's precision.
    """
    return _launch("rotate", h, weight, bias, positions, *rotary)


def _launch(
    then: str,
    h: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    positions: torch.Tensor | None = None,
    cos: torch.Tensor | None = None,
    sin: torch.Tensor | None = None,
) -> torch.Tensor:
    out = h.new_empty(h.shape[0], weight.shape[0])
    _linear[(_multiprocessors(h.device),)](
        tile_descriptor(h, ROWS, DEPTH),
        tile_descriptor(weight, COLUMNS, DEPTH),
        tile_descriptor(out, ROWS // 2, int(HEAD)),
        bias,
        positions,
        cos,
        sin,
        h.shape[0],
        h.shape[1] // DEPTH,
        weight.shape[0] // COLUMNS,
        STAGES=STAGES,
        THEN=then,
        MULTIPLY_REGISTERS=MULTIPLY_REGISTERS,
        FINISH_REGISTERS=3 * THREADS_REGISTERS - 2 * MULTIPLY_REGISTERS,
        FETCH_REGISTERS=FETCH_REGISTERS,
        num_warps=4,
        maxnreg=THREADS_REGISTERS,
    )
    return out


@functools.cache
def _multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count
