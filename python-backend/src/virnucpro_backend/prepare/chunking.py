"""Cuts sequences into chunks, in closed form and for many sequences at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray, offsets_of


@dataclass(frozen=True)
class ChunkTable:
    """Chunks of several records, ordered by record and then by chunk; all arrays int64 [m].

    record: index of the record; chunk: number within the record, from 0; start and length: in bases, start
    within the record.
    """

    record: IntArray
    chunk: IntArray
    start: IntArray
    length: IntArray


def chunk_counts(lengths: IntArray, chunk_length: int) -> IntArray:
    """Number of chunks per sequence, ceil(L / c). lengths: bases [n]; 0 gives 0."""
    counts: IntArray = -(-lengths // chunk_length)
    return counts


def chunk_starts(lengths: IntArray, chunk: IntArray, chunk_length: int) -> IntArray:
    """First base (0-based) of chunk number `chunk` in sequences of `lengths` bases; both [m], lengths > 0.

    This is the original tool's rule, which spreads the overlap evenly: n = ceil(L / c), r = n c - L, lower =
    floor(r / n), need = r - lower (n - 1); the first `need` chunks step back by lower + 1, the later ones
    by lower.
    """
    n = chunk_counts(lengths, chunk_length)
    overlap = n * chunk_length - lengths
    lower = overlap // n
    need = overlap - lower * (n - 1)
    step_back = np.minimum(chunk, need) * (lower + 1) + np.maximum(0, chunk - need) * lower
    start: IntArray = chunk * chunk_length - step_back
    return start


def chunk_table(lengths: IntArray, chunk_length: int) -> ChunkTable:
    """Return all chunks of sequences of `lengths` bases [n]. Empty sequences have none."""
    counts = chunk_counts(lengths, chunk_length)
    record = np.repeat(np.arange(lengths.size), counts)
    chunk = np.arange(record.size) - np.repeat(offsets_of(counts)[:-1], counts)
    return _table(record, lengths[record], chunk, chunk_length)


def chunk_range(length: int, first: int, end: int, chunk_length: int) -> ChunkTable:
    """Return the chunks first..end-1 of one sequence of `length` bases, as record 0."""
    chunk = np.arange(first, end, dtype=np.int64)
    return _table(np.zeros_like(chunk), np.full_like(chunk, length), chunk, chunk_length)


def _table(record: IntArray, lengths: IntArray, chunk: IntArray, chunk_length: int) -> ChunkTable:
    start = chunk_starts(lengths, chunk, chunk_length)
    return ChunkTable(record, chunk, start, np.minimum(start + chunk_length, lengths) - start)
