"""Repeats at the ends of a sequence: how a complete genome of a virus often shows.

The rules are those of `checkv complete_genomes` (Nayfach et al. 2021, doi:10.1038/s41587-020-00774-7): exact,
at least 20 bases, a direct repeat at most half of the sequence, the longer of a direct and an inverted one,
none with more than 75 % of one base. Stricter than there: a repeat with another letter than A, C, G and T is
none (CheckV allows 20 %). How often the repeat occurs inside the sequence is not looked at.
"""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.records.assembly import Letters

SHORTEST = 20
"""Bases; equal ends of this length hardly come about by chance."""
LONGEST = 65_536
"""So much of either end is compared: a sequence may be longer than memory."""
SHORTEST_SEQUENCE = 1_000
"""Shorter ones are not looked at: no virus is complete in them, and ten million reads cost nothing."""
MOST_OF_ONE_LETTER = 0.75
"""A repeat with more of one base is a run of it, such as a poly-A tail."""

NONE, DIRECT, INVERTED = 0, 1, 2
"""Kinds of repeats. Direct: the end repeats the beginning; inverted: it is its reverse complement."""

_TO_UPPER = np.uint8(0xDF)
_COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def terminal_repeats(letters: Letters, lengths: IntArray, wanted: BoolArray) -> tuple[ByteArray, IntArray]:
    """Kind and bases of the repeats of records that lie one after the other in `letters`; both [k].

    lengths: bases [k]; wanted: which are looked at, if they are long enough.
    """
    kinds, bases = np.full(lengths.size, NONE, np.uint8), np.zeros(lengths.size, np.int64)
    places = np.flatnonzero(wanted & (lengths >= SHORTEST_SEQUENCE))
    if places.size == 0:
        return kinds, bases
    origins = offsets_of(lengths)

    def read(begin: int, end: int) -> bytes:
        upper: ByteArray = letters.read(begin, end) & _TO_UPPER
        return upper.tobytes()

    # Several records are in memory and short; a single one may be of any length.
    text = read(0, int(origins[-1])) if lengths.size > 1 else None

    def between(begin: int, end: int) -> bytes:
        return read(begin, end) if text is None else text[begin:end]

    for place in places.tolist():
        begin, end = int(origins[place]), int(origins[place + 1])
        half = min((end - begin) // 2, LONGEST)
        kinds[place], bases[place] = terminal_repeat(between(begin, begin + half), between(end - half, end))
    return kinds, bases


def terminal_repeat(head: bytes, tail: bytes) -> tuple[int, int]:
    """Kind and bases of the longest repeat between the ends of a sequence, upper case and of one length."""
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
    # Equal up to some place and not beyond it: the place is found by halving.
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
