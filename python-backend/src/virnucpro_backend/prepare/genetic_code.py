"""Recognises sequences that may read a stop codon as an amino acid."""

from __future__ import annotations

import math

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.records.survey import Letters

NO_HINT, TGA_IS_TRYPTOPHAN, TAG_IS_GLUTAMINE = 0, 4, 15
"""The genetic codes by NCBI's numbers."""

_FEWEST_CHUNKS = 6
_LOST = 2 / 3
"""Share of all chunks; 44 % of the 500-bp chunks of gut contigs have no open frame in the standard code."""
_LOST_TO_ONE_CODON = 2 / 5
"""Share of the chunks without an open frame."""
_CHANCE = 1 / 400
"""How often random letters of the same composition may have as many chunks that one codon closes."""
_AT_ONCE = 1 << 24
_TO_UPPER = np.uint8(0xDF)


def genetic_code_hints(
    letters: Letters,
    lengths: IntArray,
    n_chunks: IntArray,
    lost: IntArray,
    chunk_length: int,
) -> ByteArray:
    """Return the genetic code that each of k sequences may need, uint8 [k]: 15 if TAG, 4 if TGA encodes an
    amino acid.

    letters: those of all sequences, end to end. lengths, n_chunks: int64 [k], the bases of each, and its
    chunks of `chunk_length` bases. lost: int64 [3, k], those of its chunks without an open frame, and
    those of these that have one if TAG, or TGA, is no stop codon. docs/results.md says how often a hint is
    right.
    """
    n_lost, n_lost_to_tag, n_lost_to_tga = lost
    more = np.maximum(n_lost_to_tag, n_lost_to_tga)
    hints = np.where(n_lost_to_tag > n_lost_to_tga, TAG_IS_GLUTAMINE, TGA_IS_TRYPTOPHAN).astype(np.uint8)
    may_be = (n_chunks >= _FEWEST_CHUNKS) & (n_lost >= _LOST * n_chunks) & (n_lost_to_tag != n_lost_to_tga)
    hints[~(may_be & (more >= _LOST_TO_ONE_CODON * n_lost))] = NO_HINT
    origins = offsets_of(lengths)
    for k in np.flatnonzero(hints).tolist():
        counts = _count_bases(letters, int(origins[k]), int(origins[k + 1]))
        by_chance = _lost_by_chance(counts, int(hints[k]), chunk_length)
        if _tail(int(more[k]), int(n_chunks[k]), by_chance) > _CHANCE:
            hints[k] = NO_HINT
    return hints


def _count_bases(letters: Letters, begin: int, end: int) -> IntArray:
    """Count A, C, G and T, in a piece at a time, as a genome may be on disk."""
    counts = np.zeros(256, np.int64)
    for place in range(begin, end, _AT_ONCE):
        counts += np.bincount(letters.read(place, min(place + _AT_ONCE, end)) & _TO_UPPER, minlength=256)
    return counts[list(b"ACGT")]


def _lost_by_chance(counts: IntArray, code: int, chunk_length: int) -> float:
    """The probability that a codon alone closes a chunk of independent letters with these frequencies."""
    forward = counts / max(1, counts.sum())
    codons = chunk_length // 3
    closed_by_any, closed_by_others = 1.0, 1.0
    for a, _, g, t in (forward.tolist(), forward[::-1].tolist()):
        taa, tag, tga = t * a * a, t * a * g, t * g * a
        others = taa + (tga if code == TAG_IS_GLUTAMINE else tag)
        # A strand has three frames.
        closed_by_any *= (1 - (1 - taa - tag - tga) ** codons) ** 3
        closed_by_others *= (1 - (1 - others) ** codons) ** 3
    return closed_by_any - closed_by_others


def _tail(least: int, n: int, p: float) -> float:
    """The probability of at least `least` of n independent events of probability p."""
    p = min(max(p, 1e-300), 1 - 1e-15)
    factorials = np.cumsum(np.log(np.maximum(np.arange(n + 1), 1)))
    i = np.arange(least, n + 1)
    ways = factorials[n] - factorials[i] - factorials[n - i]
    return float(np.exp(ways + i * math.log(p) + (n - i) * math.log1p(-p)).sum())
