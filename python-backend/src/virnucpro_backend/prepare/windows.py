"""Chunks of whole records, a bounded piece of sequence at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.chunking import ChunkTable, chunk_counts, chunk_range, chunk_table
from virnucpro_backend.prepare.records.assembly import Letters

# So much sequence at a time keeps the arrays of the frames in the cache and, with every frame open, under
# 100 MB.
WINDOW_BASES = 1 << 18
WINDOW_CHUNKS = 1 << 15


@dataclass(frozen=True)
class Window:
    """Consecutive chunks and the letters they lie in.

    record: int64 [m], place of a chunk's record in its group; chunk: number within the record; start,
    length: where in `letters`.
    """

    record: IntArray
    chunk: IntArray
    start: IntArray
    length: IntArray
    letters: ByteArray

    def reordered(self, places: IntArray) -> Window:
        """The chunks at these places, in this order."""
        return Window(
            self.record[places], self.chunk[places], self.start[places], self.length[places], self.letters
        )


def chunk_windows(
    letters: Letters, lengths: IntArray, chunked_lengths: IntArray, chunk_length: int
) -> Iterator[Window]:
    """All chunks of records that lie one after the other in `letters`.

    lengths: bases of the records [k]; chunked_lengths: the same, or 0 for records that are to be left out.
    """
    origins = offsets_of(lengths)
    for table in _tables(chunked_lengths, chunk_length):
        begin = origins[table.record] + table.start
        first = 0
        while first < begin.size:
            end = int(np.searchsorted(begin, begin[first] + WINDOW_BASES))
            end = min(max(end, first + 1), first + WINDOW_CHUNKS)
            part = slice(first, end)
            window_begin = int(begin[first])
            window_end = int(begin[end - 1] + table.length[end - 1])
            yield Window(
                table.record[part],
                table.chunk[part],
                begin[part] - window_begin,
                table.length[part],
                letters.read(window_begin, window_end),
            )
            first = end


def _tables(lengths: IntArray, chunk_length: int) -> Iterator[ChunkTable]:
    if lengths.size > 1:
        yield chunk_table(lengths, chunk_length)
        return
    # A single record may be of any length, and then its table alone would grow with it.
    count = int(chunk_counts(lengths, chunk_length)[0])
    for first in range(0, count, WINDOW_CHUNKS):
        yield chunk_range(int(lengths[0]), first, min(first + WINDOW_CHUNKS, count), chunk_length)
