"""Draws random pieces of sequences from both strands, with substitutions.

Random numbers come from NumPy's RandomState, which never changes: the same sources, sizes and seed give the
same pieces with any version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.inputs.sources import Sources
from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, offsets_of, ragged_indices

BASES = np.frombuffer(b"ACGT", np.uint8)
BLOCK_BASES = 1 << 22
COPIED_FROM = 64
"""A copy's original is among this many preceding pieces."""

_COMPLEMENT = np.frombuffer(bytes(range(256)).translate(bytes.maketrans(b"ACGT", b"TGCA")), np.uint8)
# The number of each base; 4 for other letters, which are never replaced.
_CODES = np.full(256, 4, np.uint8)
_CODES[BASES] = np.arange(4)


@dataclass(frozen=True)
class Pieces:
    """Drawn pieces, end to end: letters uint8 [sum], lengths int64 [n], and their origin.

    record: int64 [n], index of the source; start: int64 [n], first base in it, on its own strand; reverse:
    bool [n], whether the piece is the reverse complement; substitutions: how many bases were replaced.
    """

    letters: ByteArray
    lengths: IntArray
    record: IntArray
    start: IntArray
    reverse: BoolArray
    substitutions: int


def draw_pieces(
    sources: Sources, lengths: IntArray, substitution_rate: float, random: np.random.RandomState
) -> Iterator[Pieces]:
    """Draw a piece of each given length (in bases), with every possible place equally likely.

    Yields blocks of at most BLOCK_BASES bases (but at least one piece). Each base A, C, G or T is replaced by
    one of the three others with the given probability. Raises ValueError if no source is as long as a piece.
    """
    longest_source = int(sources.lengths.max(initial=0))
    if lengths.size and int(lengths.max()) > longest_source:
        raise ValueError(
            f"the longest sequence given has {longest_source:,} bases; a piece of {int(lengths.max()):,} was "
            "asked for"
        )
    ends = np.cumsum(lengths)
    first = 0
    while first < lengths.size:
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + BLOCK_BASES, side="right")))
        yield _block(sources, lengths[first:end], substitution_rate, random)
        first = end


def with_copies(pieces: Pieces, share: float, random: np.random.RandomState) -> Pieces:
    """Replace each piece but the first, with the given probability, by a copy of one of the preceding
    COPIED_FROM, like the copies of a molecule that amplification leaves in a read set.
    """
    numbers = np.arange(pieces.lengths.size)
    is_copy = random.random_sample(numbers.size) < share
    back = random.randint(1, COPIED_FROM + 1, numbers.size)
    original = np.where(is_copy, np.maximum(numbers - back, 0), numbers)
    while np.any(original[original] != original):
        original = original[original]
    begins = offsets_of(pieces.lengths)[:-1]
    lengths = pieces.lengths[original]
    return Pieces(
        pieces.letters[ragged_indices(begins[original], lengths)],
        lengths,
        pieces.record[original],
        pieces.start[original],
        pieces.reverse[original],
        pieces.substitutions,
    )


def draw_lengths(count: int, shortest: int, longest: int, random: np.random.RandomState) -> IntArray:
    """Draw lengths uniformly on a logarithmic scale, like those of assembled contigs, int64 [count]."""
    exponents = np.log(shortest) + random.random_sample(count) * (np.log(longest + 1) - np.log(shortest))
    lengths: IntArray = np.exp(exponents).astype(np.int64).clip(shortest, longest)
    return lengths


def _block(
    sources: Sources, lengths: IntArray, substitution_rate: float, random: np.random.RandomState
) -> Pieces:
    record, start = _places(sources.lengths, lengths, random)
    reverse = random.random_sample(lengths.size) < 0.5
    forward_first = sources.origins[record] + start
    first = np.where(reverse, forward_first + lengths - 1, forward_first)
    letters = sources.letters[ragged_indices(first, lengths, np.where(reverse, -1, 1))]
    on_reverse = np.repeat(reverse, lengths)
    letters[on_reverse] = _COMPLEMENT[letters[on_reverse]]
    substitutions = _substitute(letters, substitution_rate, random)
    return Pieces(letters, lengths, record, start, reverse, substitutions)


def _places(
    source_lengths: IntArray, lengths: IntArray, random: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Draw a source and a start in it for each length, int64 [n] each.

    With sources sorted from longest to shortest, the first k have (their bases) - k (length - 1) places for a
    piece. This number grows with k as long as the k-th source is long enough, so the source of a place drawn
    among all of them can be found by bisection.
    """
    order = np.argsort(-source_lengths, kind="stable")
    bases = offsets_of(source_lengths[order])
    usable = np.searchsorted(-source_lengths[order], -lengths, side="right")
    n_places = bases[usable] - usable * (lengths - 1)
    place = np.minimum((random.random_sample(lengths.size) * n_places).astype(np.int64), n_places - 1)

    low, high = np.zeros_like(usable), usable  # the source is in low..high-1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        later = place >= bases[middle] - middle * (lengths - 1)
        low, high = np.where(later, middle, low), np.where(later, high, middle)
    start: IntArray = place - (bases[low] - low * (lengths - 1))
    return order[low], start


def _substitute(letters: ByteArray, rate: float, random: np.random.RandomState) -> int:
    """Replace bases in place; return how many."""
    hit = np.flatnonzero(random.random_sample(letters.size) < rate)
    codes = _CODES[letters[hit]]
    shift = random.randint(1, 4, hit.size)
    is_base = codes < 4
    letters[hit[is_base]] = BASES[(codes[is_base] + shift[is_base]) % 4]
    return int(np.count_nonzero(is_base))
