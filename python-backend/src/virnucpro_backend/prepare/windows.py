"""Yields the chunks of complete records, with a bounded amount of sequence at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.chunking import ChunkTable, chunk_counts, chunk_range, chunk_table
from virnucpro_backend.prepare.records.assembly import Letters

# With this much sequence at a time, the frames' arrays stay in the cache and, even if every frame is open,
# below 100 MB.
WINDOW_BASES = 1 << 18
WINDOW_CHUNKS = 1 << 15


@dataclass(frozen=True)
class Window:
    """Consecutive chunks and the letters that contain them.

    record: int64 [m], a chunk's record within its group; chunk: number within the record; start, length:
    position in `letters`.
    """

    record: IntArray
    chunk: IntArray
    start: IntArray
    length: IntArray
    letters: ByteArray

    def reordered(self, places: IntArray) -> Window:
        """Select the chunks at these places, in this order."""
        return Window(
            self.record[places], self.chunk[places], self.start[places], self.length[places], self.letters
        )


def chunk_windows(
    letters: Letters, lengths: IntArray, chunked_lengths: IntArray, chunk_length: int
) -> Iterator[Window]:
    """Yield all chunks of records that are stored end to end in `letters`.

    lengths: bases of the records [k]; chunked_lengths: the same, or 0 for records to leave out.
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
    # A single record may have any length, and its table would grow with it.
    count = int(chunk_counts(lengths, chunk_length)[0])
    for first in range(0, count, WINDOW_CHUNKS):
        yield chunk_range(int(lengths[0]), first, min(first + WINDOW_CHUNKS, count), chunk_length)
