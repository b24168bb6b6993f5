"""Finds sequences of a part with the same letters, so that each is embedded only once.

This is a pure function of the letters: nothing is kept from one part to the next.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DistinctSequences:
    """The k distinct sequences among f frames, in the order of their first occurrence.

    first: int64 [k], the frame in which each first occurs; place: int64 [f], which of the k sequences each
    frame has.
    """

    first: IntArray
    place: IntArray

    @property
    def repeats(self) -> int:
        """How many frames repeat an earlier one's sequence."""
        return len(self.place) - len(self.first)


def distinct_sequences(letters: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]) -> DistinctSequences:
    """letters: uint8 [sum]; sequence i of f at `offsets[i] : offsets[i + 1]`. Compares bytes, not hashes."""
    text, bounds = letters.tobytes(), offsets.tolist()
    places: dict[bytes, int] = {}
    first: list[int] = []
    place = np.empty(len(bounds) - 1, dtype=np.int64)
    for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
        place[number] = places.setdefault(text[begin:end], len(first))
        if place[number] == len(first):
            first.append(number)
    return DistinctSequences(np.array(first, dtype=np.int64), place)


def every_sequence(count: int) -> DistinctSequences:
    """Treat all frames as different."""
    numbers = np.arange(count)
    return DistinctSequences(numbers, numbers)
