"""Estimates how many reading frames a file will give, and how long they are, from a sample of its chunks.

The cost of a run depends on its open reading frames: chunks of 500 bases have one or two of six, reads of
40 bases have three. The number of bases alone says little about it.
"""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray, offsets_of
from virnucpro_backend.prepare.chunking import chunk_counts, chunk_starts
from virnucpro_backend.prepare.frames import open_frames
from virnucpro_backend.prepare.records.assembly import Letters

# So many are taken from every group of records (a block of input), to cover the entire file.
_CHUNKS_OF_A_GROUP = 256


class FrameSample:
    """Sums the extrapolated samples of all groups; exact if all chunks of a group are sampled."""

    def __init__(self, chunk_length: int) -> None:
        self._chunk_length = chunk_length
        self._frames = 0.0
        self._residues = 0.0

    def add(self, letters: Letters, lengths: IntArray, chunked_lengths: IntArray) -> None:
        """Add a group. lengths: bases of its records [k]; chunked_lengths: the same, or 0 if left out.

        All its letters are readable, or it is a single record of which only the beginning was kept.
        """
        counts = chunk_counts(chunked_lengths, self._chunk_length)
        total = int(counts.sum())
        if total == 0:
            return
        if letters.readable < lengths.sum():
            begins = np.arange(0, letters.readable, self._chunk_length)[:_CHUNKS_OF_A_GROUP]
            ends = np.minimum(begins + self._chunk_length, letters.readable)
        else:
            begins, ends = self._spread(lengths, counts)
        slices = [letters.read(*span) for span in zip(begins.tolist(), ends.tolist(), strict=True)]
        sizes = ends - begins
        frames = open_frames(np.concatenate(slices), offsets_of(sizes)[:-1], sizes)
        self._frames += frames.chunk.size * total / begins.size
        self._residues += frames.residues.size * total / begins.size

    def _spread(self, lengths: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Choose chunks evenly over a group; return where they begin and end in its letters, both [m]."""
        first = offsets_of(counts)
        total = int(first[-1])
        number = np.linspace(0, total - 1, min(total, _CHUNKS_OF_A_GROUP)).astype(np.int64)
        record = np.searchsorted(first, number, side="right") - 1
        start = chunk_starts(lengths[record], number - first[record], self._chunk_length)
        begins = offsets_of(lengths)[record] + start
        return begins, begins + np.minimum(self._chunk_length, lengths[record] - start)

    def frames_and_residues(self) -> tuple[int, int]:
        """The estimated open reading frames of the file, and their residues."""
        return round(self._frames), round(self._residues)
