"""Cuts sequences into chunks, in closed form, and decides the round of each chunk.

Rounds make the chunks computed first an even sample of all inputs. Their rule depends only on the run's
seed, the row of a sequence, the number n of its chunks and the number of a chunk; docs/results.md explains it
to users. With h(i) the i-th number, from 0, of SplitMix64:

    u = h(2 row) / 2^64                     the same for all chunks of a sequence, uniform in [0, 1)
    x = (chunk - h(2 row + 1)) mod n        counted from a start that differs between sequences
    j = how many of 0 ... n - 1 come before x in van der Corput's order, by bits from the lowest on
    priority = (j + u) / n

The chunks with a priority below p are the share p of every sequence, spread evenly along it. A round holds
the priorities from the previous round's end to its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of, splitmix64
from virnucpro_backend.prepare.records.survey import Letters


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


def round_ends(first: float) -> npt.NDArray[np.float64]:
    """The priorities at which rounds end: `first`, a power of 1/2, twice that, and so on to 1."""
    doublings = np.arange(1 - round(math.log2(first)), dtype=np.float64)
    return first * 2.0**doublings


def rounds_of(rows: IntArray, chunks: IntArray, counts: IntArray, seed: int, first: float) -> ByteArray:
    """Compute the rounds, from 0, of chunks of sequences at `rows` with `counts` chunks each; all [m]."""
    priority = priorities(rows, chunks, counts, seed)
    return np.searchsorted(round_ends(first)[:-1], priority, side="right").astype(np.uint8)


def priorities(rows: IntArray, chunks: IntArray, counts: IntArray, seed: int) -> npt.NDArray[np.float64]:
    """Compute the priorities, from 0 to 1, of the same chunks."""
    # Keep as many bits as a float64 holds exactly.
    uniform = (splitmix64(seed, 2 * rows) >> np.uint64(11)).astype(np.float64) * 0.5**53
    begin = (splitmix64(seed, 2 * rows + 1) % counts.astype(np.uint64)).astype(np.int64)
    result: npt.NDArray[np.float64] = (_turns((chunks - begin) % counts, counts) + uniform) / counts
    return result


def _turns(places: IntArray, counts: IntArray) -> IntArray:
    """Count how many of 0 ... counts[i] - 1 precede places[i] when ordered by bits from the lowest on."""
    turns = np.zeros_like(places)
    for bit in range(int(places.max(initial=0)).bit_length()):
        # Count those that agree in all lower bits and have 0 where this place has 1.
        before = (counts - (places & ((1 << bit) - 1)) + (2 << bit) - 1) >> (bit + 1)
        turns += np.where(places >> bit & 1, before, 0)
    return turns
