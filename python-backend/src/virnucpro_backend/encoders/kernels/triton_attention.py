# mypy: ignore-errors
# ruff: noqa: N803, N806
"""Attention over packed sequences, tuned for 30 to 256 tokens (Triton).

Both kernels read q, k and v straight from the rows of the fused QKV product, rotate q and k in FP32 registers
(ESM-2) or add the ALiBi distance penalty (DNABERT-S), and compute scores and softmax in FP32, in base 2. The
rows of a program are run-time data, so nothing is compiled again for other lengths or batches.

- `attend_short`: one program per head holds all keys and values of a sequence of at most 3 blocks of 64
tokens. - `attend_long`: one program per head and 64 queries walks the keys with a running softmax; any
length.

Row r of block b is position b * 64 + r. Its rotation is that of r, which is the same for every block and
stays in registers, followed by that of b * 64, one row of the tables. Reading the FP32 tables for every block
would double the memory traffic of q and k.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from virnucpro_backend.encoders.float32 import Scores
from virnucpro_backend.encoders.kernels.attention_work import BLOCK
from virnucpro_backend.encoders.kernels.triton_math import exp2

REGISTERS = {1: 128, 2: 128, 3: 168}
"""Registers per thread by number of blocks, measured on an H200: with fewer, more programs share a
multiprocessor."""

LOG2_E = 1.4426950408889634
_LOG2_E: tl.constexpr = tl.constexpr(LOG2_E)


@triton.jit
def _load_rotated(
    rows, inside, cos_base, sin_base, cos_ptr, sin_ptr, block,
    HALF: tl.constexpr, BLOCK: tl.constexpr, ROTARY: tl.constexpr,
):  # fmt: skip
    half = tl.arange(0, HALF)
    low = tl.load(rows + half[None, :], mask=inside, other=0.0)
    high = tl.load(rows + HALF + half[None, :], mask=inside, other=0.0)
    if ROTARY:
        cos_block = tl.load(cos_ptr + block * BLOCK * HALF + half)[None, :]
        sin_block = tl.load(sin_ptr + block * BLOCK * HALF + half)[None, :]
        cos = cos_base * cos_block - sin_base * sin_block
        sin = sin_base * cos_block + cos_base * sin_block
        low_32 = low.to(tl.float32)
        high_32 = high.to(tl.float32)
        rotated_low = (low_32 * cos - high_32 * sin).to(low.dtype)
        rotated_high = (high_32 * cos + low_32 * sin).to(low.dtype)
    else:
        rotated_low = low
        rotated_high = high
    return rotated_low, rotated_high


@triton.jit
def _scores(
    q_low,
    q_high,
    k_low,
    k_high,
    query,
    key,
    end,
    scale_log2,
    slope_log2,
    ALIBI: tl.constexpr,
    LAST: tl.constexpr,
):
    scores = tl.dot(q_low, tl.trans(k_low))
    scores = tl.dot(q_high, tl.trans(k_high), acc=scores)
    if ALIBI:
        distance = tl.abs(query[:, None] - key[None, :]).to(tl.float32)
        scores = scores * scale_log2 - slope_log2 * distance
    if LAST:
        scores = tl.where((key < end)[None, :], scores, float("-inf"))
    return scores


@triton.jit
def _attend_short(
    qkv_ptr, out_ptr, ranges_ptr, cos_ptr, sin_ptr, slopes_ptr, scale_log2,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY: tl.constexpr, ALIBI: tl.constexpr,
    BLOCKS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0)
    begin = tl.load(ranges_ptr + tl.program_id(1) * 2)
    end = tl.load(ranges_ptr + tl.program_id(1) * 2 + 1)
    HALF: tl.constexpr = HEAD_DIM // 2
    WIDTH: tl.constexpr = HEADS * HEAD_DIM
    STEP: tl.constexpr = BLOCK * 3 * WIDTH
    row = tl.arange(0, BLOCK)
    whole = tl.arange(0, HEAD_DIM)
    first = begin + row
    cos_base = 0.0
    sin_base = 0.0
    slope_log2 = 0.0
    if ROTARY:
        base = row[:, None] * HALF + tl.arange(0, HALF)[None, :]
        cos_base = tl.load(cos_ptr + base)
        sin_base = tl.load(sin_ptr + base)

    if ALIBI:
        slope_log2 = tl.load(slopes_ptr + head) * _LOG2_E
    q_rows = qkv_ptr + first.to(tl.int64)[:, None] * (3 * WIDTH) + head * HEAD_DIM
    k_rows = q_rows + WIDTH
    v_rows = q_rows + 2 * WIDTH + whole[None, :]

    inside = (first < end)[:, None]
    k0_low, k0_high = _load_rotated(
        k_rows, inside, cos_base, sin_base, cos_ptr, sin_ptr, 0, HALF, BLOCK, ROTARY
    )
    v0 = tl.load(v_rows, mask=inside, other=0.0)
    if BLOCKS > 1:
        inside = (first + BLOCK < end)[:, None]
        k1_low, k1_high = _load_rotated(
            k_rows + STEP, inside, cos_base, sin_base, cos_ptr, sin_ptr, 1, HALF, BLOCK, ROTARY
        )
        v1 = tl.load(v_rows + STEP, mask=inside, other=0.0)
    if BLOCKS > 2:
        inside = (first + 2 * BLOCK < end)[:, None]
        k2_low, k2_high = _load_rotated(
            k_rows + 2 * STEP, inside, cos_base, sin_base, cos_ptr, sin_ptr, 2, HALF, BLOCK, ROTARY
        )
        v2 = tl.load(v_rows + 2 * STEP, mask=inside, other=0.0)

    # The softmax's base-2 exponent is s * scale - max * scale: one multiply-add per score. With ALiBi the
    # scores are already scaled.
    scale = scale_log2
    if ALIBI:
        scale = 1.0
    for block in range(0, BLOCKS):
        query = first + block * BLOCK
        inside = (query < end)[:, None]
        q_low, q_high = _load_rotated(
            q_rows + block * STEP, inside, cos_base, sin_base, cos_ptr, sin_ptr, block, HALF, BLOCK, ROTARY
        )
        s0 = _scores(
            q_low, q_high, k0_low, k0_high, query, first, end, scale_log2, slope_log2, ALIBI, BLOCKS == 1
        )
        highest = tl.max(s0, 1)
        if BLOCKS > 1:
            s1 = _scores(
                q_low,
                q_high,
                k1_low,
                k1_high,
                query,
                first + BLOCK,
                end,
                scale_log2,
                slope_log2,
                ALIBI,
                BLOCKS == 2,
            )
            highest = tl.maximum(highest, tl.max(s1, 1))
        if BLOCKS > 2:
            s2 = _scores(
                q_low, q_high, k2_low, k2_high, query, first + 2 * BLOCK, end, scale_log2, slope_log2, ALIBI,
                BLOCKS == 3,
            )  # fmt: skip
            highest = tl.maximum(highest, tl.max(s2, 1))
        shift = (highest * scale)[:, None]
        weights = exp2(s0 * scale - shift)
        total = tl.sum(weights, 1)
        mixed = tl.dot(weights.to(v0.dtype), v0)
        if BLOCKS > 1:
            weights = exp2(s1 * scale - shift)
            total += tl.sum(weights, 1)
            mixed = tl.dot(weights.to(v0.dtype), v1, acc=mixed)
        if BLOCKS > 2:
            weights = exp2(s2 * scale - shift)
            total += tl.sum(weights, 1)
            mixed = tl.dot(weights.to(v0.dtype), v2, acc=mixed)
        out_rows = out_ptr + query.to(tl.int64)[:, None] * WIDTH + head * HEAD_DIM + whole[None, :]
        tl.store(out_rows, (mixed * (1.0 / total)[:, None]).to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _attend_long(
    qkv_ptr, out_ptr, blocks_ptr, cos_ptr, sin_ptr, slopes_ptr, scale_log2,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY: tl.constexpr, ALIBI: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0)
    query_block = tl.load(blocks_ptr + tl.program_id(1) * 3)
    begin = tl.load(blocks_ptr + tl.program_id(1) * 3 + 1)
    end = tl.load(blocks_ptr + tl.program_id(1) * 3 + 2)
    HALF: tl.constexpr = HEAD_DIM // 2
    WIDTH: tl.constexpr = HEADS * HEAD_DIM
    row = tl.arange(0, BLOCK)
    whole = tl.arange(0, HEAD_DIM)
    cos_base = 0.0
    sin_base = 0.0
    slope_log2 = 0.0
    if ROTARY:
        base = row[:, None] * HALF + tl.arange(0, HALF)[None, :]
        cos_base = tl.load(cos_ptr + base)
        sin_base = tl.load(sin_ptr + base)
    scale = scale_log2
    if ALIBI:
        slope_log2 = tl.load(slopes_ptr + head) * _LOG2_E
        scale = 1.0

    query = begin + query_block * BLOCK + row
    query_inside = (query < end)[:, None]
    q_rows = qkv_ptr + query.to(tl.int64)[:, None] * (3 * WIDTH) + head * HEAD_DIM
    q_low, q_high = _load_rotated(
        q_rows, query_inside, cos_base, sin_base, cos_ptr, sin_ptr, query_block, HALF, BLOCK, ROTARY
    )
    highest = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    mixed = tl.zeros((BLOCK, HEAD_DIM), tl.float32)
    for block in range(0, tl.cdiv(end - begin, BLOCK)):
        key = begin + block * BLOCK + row
        inside = (key < end)[:, None]
        k_rows = qkv_ptr + key.to(tl.int64)[:, None] * (3 * WIDTH) + WIDTH + head * HEAD_DIM
        k_low, k_high = _load_rotated(
            k_rows, inside, cos_base, sin_base, cos_ptr, sin_ptr, block, HALF, BLOCK, ROTARY
        )
        v = tl.load(k_rows + WIDTH + whole[None, :], mask=inside, other=0.0)
        scores = _scores(q_low, q_high, k_low, k_high, query, key, end, scale_log2, slope_log2, ALIBI, True)
        new_highest = tl.maximum(highest, tl.max(scores, 1))
        shrink = exp2((highest - new_highest) * scale)
        weights = exp2(scores * scale - (new_highest * scale)[:, None])
        total = total * shrink + tl.sum(weights, 1)
        mixed = tl.dot(weights.to(v.dtype), v, acc=mixed * shrink[:, None])
        highest = new_highest
    out_rows = out_ptr + query.to(tl.int64)[:, None] * WIDTH + head * HEAD_DIM + whole[None, :]
    tl.store(out_rows, (mixed * (1.0 / total)[:, None]).to(out_ptr.dtype.element_ty), mask=query_inside)


def attend_short(
    qkv: torch.Tensor, out: torch.Tensor, ranges: torch.Tensor, heads: int, blocks: int, scores: Scores
) -> None:
    """Compute out [tokens, heads * head_dim] for sequences of one size class.

    qkv [tokens, 3, heads, head_dim] and out: contiguous, BF16 or FP16; head_dim 32, 64 or 128. ranges int32
    [n, 2]: first and end row of sequences that span exactly `blocks` blocks. Other rows of out are not
    written. The tables of `scores.rotary` have at least MOST_BLOCKS * BLOCK rows.
    """
    _attend_short[(heads, ranges.shape[0])](
        *_arguments(qkv, out, ranges, scores),
        **_constants(out, heads, scores),
        BLOCKS=blocks,
        maxnreg=REGISTERS[blocks],
    )


def attend_long(
    qkv: torch.Tensor, out: torch.Tensor, blocks: torch.Tensor, heads: int, scores: Scores
) -> None:
    """Do the same as `attend_short` for sequences of any length.

    blocks int32 [n, 3]: the number of each query block within its sequence, the sequence's first and end row.
    """
    _attend_long[(heads, blocks.shape[0])](
        *_arguments(qkv, out, blocks, scores), **_constants(out, heads, scores)
    )


def _arguments(qkv, out, rows, scores):
    cos, sin = scores.rotary or (None, None)
    return qkv, out, rows, cos, sin, scores.alibi_slopes, scores.scale * LOG2_E


def _constants(out, heads, scores):
    return {
        "HEADS": heads,
        "HEAD_DIM": out.shape[1] // heads,
        "ROTARY": scores.rotary is not None,
        "ALIBI": scores.alibi_slopes is not None,
        "BLOCK": BLOCK,
        "num_warps": 4,
        "num_stages": 1,
    }
