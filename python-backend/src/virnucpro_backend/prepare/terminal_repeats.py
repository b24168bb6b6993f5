"""Finds repeats at the ends of a sequence, which often indicate a complete viral genome.

The rules are those of `checkv complete_genomes` (Nayfach et al. 2021, doi:10.1038/s41587-020-00774-7): a
repeat is exact, has at least 20 bases and at most 75 % of one base, and a direct one takes at most half of
the sequence; of a direct and an inverted repeat, the longer one counts. One rule is stricter: a repeat must
not have letters other than A, C, G and T (CheckV allows 20 %). Copies inside the sequence are not counted.
"""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.records.survey import Letters

SHORTEST = 20
"""In bases; equal ends of this length hardly occur by chance."""
LONGEST = 65_536
"""How many bases of each end are compared, as a sequence may be larger than memory."""
SHORTEST_SEQUENCE = 1_000
"""Shorter sequences are skipped: they hold no complete virus, and ten million reads then cost nothing."""
MOST_OF_ONE_LETTER = 0.75
"""A repeat with a larger share of one base is a run of it, such as a poly-A tail."""

NONE, DIRECT, INVERTED = 0, 1, 2
"""Kinds of repeats. Direct: the end repeats the beginning; inverted: it is the reverse complement."""

_TO_UPPER = np.uint8(0xDF)
_COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def terminal_repeats(letters: Letters, lengths: IntArray, wanted: BoolArray) -> tuple[ByteArray, IntArray]:
    """Find kind and bases of the repeats of records stored end to end in `letters`; both [k].

    lengths: bases [k]; wanted: which records to examine, if they are long enough.
    """
    kinds, bases = np.full(lengths.size, NONE, np.uint8), np.zeros(lengths.size, np.int64)
    places = np.flatnonzero(wanted & (lengths >= SHORTEST_SEQUENCE))
    if places.size == 0:
        return kinds, bases
    origins = offsets_of(lengths)

    def read(begin: int, end: int) -> bytes:
        upper: ByteArray = letters.read(begin, end) & _TO_UPPER
        return upper.tobytes()

    # Several records are short and in memory; a single one may have any length.
    text = read(0, int(origins[-1])) if lengths.size > 1 else None

    def between(begin: int, end: int) -> bytes:
        return read(begin, end) if text is None else text[begin:end]

    for place in places.tolist():
        begin, end = int(origins[place]), int(origins[place + 1])
        half = min((end - begin) // 2, LONGEST)
        kinds[place], bases[place] = terminal_repeat(between(begin, begin + half), between(end - half, end))
    return kinds, bases


def terminal_repeat(head: bytes, tail: bytes) -> tuple[int, int]:
    """Find kind and bases of the longest repeat of a sequence's ends, in upper case and of equal length."""
    direct, inverted = _direct(head, tail), _inverted(head, tail)
    if max(direct, inverted) < SHORTEST:
        return NONE, 0
    return (DIRECT, direct) if direct >= inverted else (INVERTED, inverted)


def _direct(head: bytes, tail: bytes) -> int:
    beginning = head[:SHORTEST]
    place = tail.find(beginning)
    while place >= 0:
        length = len(tail) - place
        if tail.endswith(head[:length]):
            return length if _counts(head[:length]) else 0
        place = tail.find(beginning, place + 1)
    return 0


def _inverted(head: bytes, tail: bytes) -> int:
    if head[:SHORTEST] != tail[: -SHORTEST - 1 : -1].translate(_COMPLEMENT):
        return 0
    end = tail[::-1].translate(_COMPLEMENT)
    low, high = SHORTEST, len(head)
    # Bisect for the place up to which they are equal.
    while low < high:
        middle = (low + high + 1) // 2
        if head[:middle] == end[:middle]:
            low = middle
        else:
            high = middle - 1
    return low if _counts(head[:low]) else 0


def _counts(repeat: bytes) -> bool:
    if len(repeat) < SHORTEST or repeat.translate(None, b"ACGT"):
        return False
    return max(repeat.count(base) for base in b"ACGT") <= MOST_OF_ONE_LETTER * len(repeat)
