"""Sums up the names of a file in few numbers, by which the order of two files' names is compared."""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import HashArray, splitmix64

# A run of ten million reads has a mark every 16,384 reads.
MOST_MARKS = 1024


class NameMarks:
    """After every `step` names a mark: a hash of all names so far, in their order.

    Two files with the same names in the same order have the same marks; behind the first difference, all
    marks differ. `step` is a power of two that doubles whenever there are too many marks, so files of any
    lengths can be compared at the larger of their steps.
    """

    def __init__(self) -> None:
        self.step = 1
        self._count = 0
        self._sum = np.zeros(1, np.uint64)
        self._marks: HashArray = np.zeros(0, np.uint64)

    def add(self, hashes: HashArray) -> None:
        """Add the hashes of the next names, in order."""
        places = np.arange(self._count, self._count + hashes.size)
        terms = hashes * (splitmix64(0, places) | np.uint64(1))
        sums = np.cumsum(np.concatenate([self._sum, terms]), dtype=np.uint64)
        first = -self._count % self.step
        at_marks = sums[first :: self.step] if first else sums[self.step :: self.step]
        self._marks = np.concatenate([self._marks, at_marks])
        self._count += hashes.size
        self._sum = sums[-1:]
        while self._marks.size > MOST_MARKS:
            self._marks = self._marks[1::2]
            self.step *= 2

    def text(self) -> str:
        """The upper 32 bits of all marks and of the sum over all names, each as eight hexadecimal digits."""
        marks = np.concatenate([self._marks, self._sum]) >> np.uint64(32)
        return "".join(f"{mark:08x}" for mark in marks.tolist())
