"""Statistics of the lengths of an input's sequences, in memory that doesn't grow with their number."""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray

_COUNTED_BELOW = 1 << 16
_LARGEST_SAFE_INTEGER = 2**53 - 1

# Bin i holds lengths from edge i to below edge i + 1; the first bin holds empty sequences. The edges are
# preferred numbers that include the models' chunk lengths, so no bin spans 300 or 500 bp.
_STEPS = (10, 12, 16, 20, 25, 30, 40, 50, 60, 80)
LENGTH_BIN_EDGES: tuple[int, ...] = (
    0,
    *sorted({step * 10**decade // 10 for decade in range(9) for step in _STEPS}),
    10**9,
    _LARGEST_SAFE_INTEGER,
)


class LengthStatistics:
    """Counts short lengths and keeps long ones, each of which took at least 64 kB of input."""

    def __init__(self) -> None:
        self._counts = np.zeros(_COUNTED_BELOW, np.int64)
        self._long: list[IntArray] = []

    def add(self, lengths: IntArray) -> None:
        """Add lengths in bases, [k]."""
        is_long = lengths >= _COUNTED_BELOW
        if is_long.any():
            self._long.append(lengths[is_long])
            lengths = lengths[~is_long]
        self._counts += np.bincount(lengths, minlength=_COUNTED_BELOW)

    def histogram(self) -> list[int]:
        """Number of sequences per bin of LENGTH_BIN_EDGES."""
        edges = np.array(LENGTH_BIN_EDGES)
        sums = np.concatenate([[0], np.cumsum(self._counts)])
        short = np.diff(sums[np.minimum(edges, _COUNTED_BELOW)])
        return [int(n) for n in short + np.histogram(self._long_lengths(), bins=edges)[0]]

    def below(self, length: int) -> int:
        """Number of sequences shorter than `length`."""
        return int(self._counts[:length].sum() + (self._long_lengths() < length).sum())

    def minimum_median_maximum(self) -> tuple[int, int, int]:
        """All 0 without sequences; for an even number of sequences, the lower middle one is the median."""
        values = np.concatenate([np.flatnonzero(self._counts), np.unique(self._long_lengths())])
        _, long_counts = np.unique(self._long_lengths(), return_counts=True)
        counts = np.concatenate([self._counts[self._counts > 0], long_counts])
        if values.size == 0:
            return 0, 0, 0
        ranks = np.cumsum(counts)
        median = values[np.searchsorted(ranks, (int(ranks[-1]) + 1) // 2)]
        return int(values[0]), int(median), int(values[-1])

    def _long_lengths(self) -> IntArray:
        return np.concatenate([np.zeros(0, np.int64), *self._long])
