"""Repeats at the ends of a sequence: how a complete circular or linear genome of a virus often shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SHORTEST = 20
"""Bases; equal ends of this length hardly come about by chance."""
MOST_OF_ONE_LETTER = 0.75
"""A repeat with more of one base is a run of it, such as a poly-A tail."""

_COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


@dataclass(frozen=True)
class TerminalRepeat:
    """`direct` (DTR): the end repeats the beginning. `inverted` (ITR): it is its reverse complement."""

    kind: Literal["direct", "inverted"]
    length: int


def terminal_repeat(letters: bytes) -> TerminalRepeat | None:
    """The longest exact repeat at the ends, at most half of the sequence; the direct one if there are both.

    letters: ASCII, any case. Repeats with another letter than A, C, G and T do not count, nor do runs of
    one base.
    """
    letters = letters.upper()
    length = _direct(letters)
    if length:
        return TerminalRepeat("direct", length)
    length = _inverted(letters)
    return TerminalRepeat("inverted", length) if length else None


def _direct(letters: bytes) -> int:
    if len(letters) < 2 * SHORTEST:
        return 0
    beginning, place = letters[:SHORTEST], -(-len(letters) // 2) - 1
    while (place := letters.find(beginning, place + 1)) >= 0:
        length = len(letters) - place
        if letters.endswith(letters[:length]):
            return length if _counts(letters[:length]) else 0
    return 0


def _inverted(letters: bytes) -> int:
    half = len(letters) // 2
    beginning, end = letters[:half], letters[::-1][:half].translate(_COMPLEMENT)
    low, high = 0, half
    # Equal up to some place and not beyond it: the place is found by halving.
    while low < high:
        middle = (low + high + 1) // 2
        if beginning[:middle] == end[:middle]:
            low = middle
        else:
            high = middle - 1
    return low if low >= SHORTEST and _counts(beginning[:low]) else 0


def _counts(repeat: bytes) -> bool:
    if repeat.translate(None, b"ACGT"):
        return False
    return max(repeat.count(base) for base in b"ACGT") <= MOST_OF_ONE_LETTER * len(repeat)
