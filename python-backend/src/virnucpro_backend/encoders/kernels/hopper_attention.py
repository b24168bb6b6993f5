# mypy: ignore-errors
# ruff: noqa: N803, N806
"""Attention for Hopper GPUs over packed sequences of at most 192 tokens, with q and k rotated (Gluon).

Like `triton_attention.attend_short`, it has one program per sequence and head, works in blocks of 64 tokens,
and computes FP32 scores and the softmax in base 2. It differs in loading q, k and v: the GPU's copy engine
writes them to shared memory all at once, so that no register holds them and a program waits for device memory
only once. The kernel is then limited by memory bandwidth, not latency.
"""

from __future__ import annotations

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from virnucpro_backend.encoders.kernels.attention_work import BLOCK
from virnucpro_backend.encoders.kernels.gluon_names import load_tile, tile_descriptor
from virnucpro_backend.encoders.kernels.triton_attention import LOG2_E
from virnucpro_backend.encoders.kernels.triton_math import exp2

HEAD_DIM = 64

REGISTERS = {1: 96, 2: 104, 3: 168}
"""Registers per thread by number of blocks: with fewer, more programs share a multiprocessor."""


@gluon.jit
def _attend(qkv, out_ptr, ranges_ptr, scale, BLOCKS: gl.constexpr):
    BLOCK: gl.constexpr = qkv.block_type.shape[0]
    HEAD_DIM: gl.constexpr = qkv.block_type.shape[1]
    LAST: gl.constexpr = BLOCKS - 1
    products: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, products, 2)
    lines: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    head = gl.program_id(0)
    width = gl.num_programs(0) * HEAD_DIM
    begin = gl.load(ranges_ptr + gl.program_id(1) * 2)
    end = gl.load(ranges_ptr + gl.program_id(1) * 2 + 1)

    q = gl.allocate_shared_memory(qkv.dtype, [BLOCKS, BLOCK, HEAD_DIM], qkv.layout)
    k = gl.allocate_shared_memory(qkv.dtype, [BLOCKS, BLOCK, HEAD_DIM], qkv.layout)
    v = gl.allocate_shared_memory(qkv.dtype, [BLOCKS, BLOCK, HEAD_DIM], qkv.layout)
    qk_here = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    v_here = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(qk_here, count=1)
    mbarrier.init(v_here, count=1)
    fence_async_shared()
    mbarrier.expect(qk_here, 2 * BLOCKS * qkv.block_type.nbytes)
    mbarrier.expect(v_here, BLOCKS * qkv.block_type.nbytes)
    column = head * HEAD_DIM
    for block in gl.static_range(BLOCKS):
        load_tile(qkv, [begin + block * BLOCK, width + column], qk_here, k.index(block))
        load_tile(qkv, [begin + block * BLOCK, column], qk_here, q.index(block))
    for block in gl.static_range(BLOCKS):
        load_tile(qkv, [begin + block * BLOCK, 2 * width + column], v_here, v.index(block))

    row = gl.expand_dims(gl.arange(0, BLOCK, layout=gl.SliceLayout(1, lines)), 1)
    key = gl.expand_dims(gl.arange(0, BLOCK, layout=gl.SliceLayout(0, products)), 0)
    is_key = begin + LAST * BLOCK + key < end
    out_ptrs = out_ptr + column + gl.expand_dims(gl.arange(0, HEAD_DIM, layout=gl.SliceLayout(0, lines)), 0)
    zeros = gl.zeros([BLOCK, 64], gl.float32, products)

    # Rows past the end belong to the next sequence. Their weights are 0, but 0 times NaN is NaN.
    mbarrier.wait(v_here, 0)
    last = v.index(LAST)
    last.store(gl.where(begin + LAST * BLOCK + row < end, last.load(lines), 0.0))
    fence_async_shared()
    mbarrier.wait(qk_here, 0)
    for block in range(BLOCKS):
        queries = q.index(block)
        s0 = warpgroup_mma(queries, k.index(0).permute((1, 0)), zeros, use_acc=False, is_async=True)
        if BLOCKS == 1:
            s0 = warpgroup_mma_wait(deps=(s0,))
            s0 = gl.where(is_key, s0, float("-inf"))
            highest = gl.max(s0, 1)
        if BLOCKS == 2:
            s1 = warpgroup_mma(queries, k.index(1).permute((1, 0)), zeros, use_acc=False, is_async=True)
            s0, s1 = warpgroup_mma_wait(deps=(s0, s1))
            s1 = gl.where(is_key, s1, float("-inf"))
            highest = gl.maximum(gl.max(s0, 1), gl.max(s1, 1))
        if BLOCKS == 3:
            s1 = warpgroup_mma(queries, k.index(1).permute((1, 0)), zeros, use_acc=False, is_async=True)
            s2 = warpgroup_mma(queries, k.index(2).permute((1, 0)), zeros, use_acc=False, is_async=True)
            s0, s1, s2 = warpgroup_mma_wait(deps=(s0, s1, s2))
            s2 = gl.where(is_key, s2, float("-inf"))
            highest = gl.maximum(gl.maximum(gl.max(s0, 1), gl.max(s1, 1)), gl.max(s2, 1))

        # The base-2 exponent s * scale - max * scale takes one multiply-add per score.
        shift = gl.expand_dims(highest * scale, 1)
        weights = exp2(s0 * scale - shift)
        total = gl.sum(weights, 1)
        rounded = gl.convert_layout(weights.to(qkv.dtype), operand)
        mixed = warpgroup_mma(rounded, v.index(0), zeros, use_acc=False, is_async=True)
        if BLOCKS > 1:
            weights = exp2(s1 * scale - shift)
            total += gl.sum(weights, 1)
            rounded_1 = gl.convert_layout(weights.to(qkv.dtype), operand)
            mixed = warpgroup_mma(rounded_1, v.index(1), mixed, is_async=True)
        if BLOCKS > 2:
            weights = exp2(s2 * scale - shift)
            total += gl.sum(weights, 1)
            rounded_2 = gl.convert_layout(weights.to(qkv.dtype), operand)
            mixed = warpgroup_mma(rounded_2, v.index(2), mixed, is_async=True)
        mixed = warpgroup_mma_wait(deps=(mixed,))

        # Store through the queries' memory, which is free now: 16 bytes per thread.
        queries.store((mixed * gl.expand_dims(1.0 / total, 1)).to(qkv.dtype))
        query = begin + block * BLOCK + row
        gl.store(out_ptrs + query.to(gl.int64) * width, queries.load(lines), mask=query < end)


def attend_rotated(
    qkv: torch.Tensor, out: torch.Tensor, ranges: torch.Tensor, heads: int, *, blocks: int, scale: float
) -> None:
    """Compute out [tokens, heads * 64] = softmax(scale * q k^T) v, for sequences of `blocks` blocks.

    See `triton_attention.attend_short`; here q and k of qkv [tokens, 3, heads, 64] are already rotated.
    """
    _attend[(heads, ranges.shape[0])](
        tile_descriptor(qkv.view(qkv.shape[0], -1), BLOCK, HEAD_DIM),
        out,
        ranges,
        scale * LOG2_E,
        BLOCKS=blocks,
        num_warps=4,
        maxnreg=REGISTERS[blocks],
    )
