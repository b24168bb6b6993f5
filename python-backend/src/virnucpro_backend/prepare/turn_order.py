"""Decides the round of each chunk, so that the chunks computed first are an even sample of all inputs.

The rule depends only on the run's seed, the row of a sequence, the number n of its chunks and the number of a
chunk; docs/results.md explains it to users. With h(i) the i-th number, from 0, of SplitMix64:

    u = h(2 row) / 2^64                     the same for all chunks of a sequence, uniform in [0, 1)
    x = (chunk - h(2 row + 1)) mod n        counted from a start that differs between sequences
    j = how many of 0 ... n - 1 come before x in van der Corput's order, by bits from the lowest on
    priority = (j + u) / n

The chunks with a priority below p are the share p of every sequence, spread evenly along it. A round holds
the priorities from the previous round's end to its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, splitmix64

ROUND_ENDS = tuple(0.5**halvings for halvings in range(8, -1, -1))
"""The priorities at which rounds end: 1/256, 1/128, ... 1. A first round of 1/64 would take one GPU a
minute in a run of a million reads, and nothing is known of the last sample before its end."""


def rounds_of(rows: IntArray, chunks: IntArray, counts: IntArray, seed: int) -> ByteArray:
    """Compute the rounds, from 0, of chunks of sequences at `rows` with `counts` chunks each; all [m]."""
    priority = priorities(rows, chunks, counts, seed)
    return np.searchsorted(np.array(ROUND_ENDS[:-1]), priority, side="right").astype(np.uint8)


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
