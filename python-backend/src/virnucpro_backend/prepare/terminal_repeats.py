"""Finds repeats at the ends of a sequence, which often indicate a complete viral genome.

The rules are those of `checkv complete_genomes` 1.1.1 (Nayfach et al. 2021, doi:10.1038/s41587-020-00774-7),
without the repeats that it flags. A repeat is exact and has at least 21 bases; a direct one takes at most
half of the sequence, an inverted one at most 1,000 bases; the longer of the two counts. It is flagged if
more than 20 % of it are N or more than 70 % one letter, if the sequence has more than eight copies of it, or
if the sequence has its 21-mers more than 1.5 times on average, as it has if a genome is in it twice.
"""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.records.survey import Letters

SHORTEST = 21
"""In bases; equal ends of this length hardly occur by chance."""
LONGEST_INVERTED = 1_000
MOST_N, MOST_OF_ONE_LETTER = 0.2, 0.7
MOST_COPIES = 8
MOST_OF_EACH_WORD = 1.5
"""How often each 21-mer may occur on average, counted with its reverse complement."""
LONGEST = 65_536
"""How many bases of each end are compared: to try every place of a longer one could take hours."""
SHORTEST_SEQUENCE, LONGEST_SEQUENCE = 1_000, 5_000_000
"""Others are skipped. Shorter ones hold no complete virus, and ten million reads then cost nothing; no known
virus is longer, and such a sequence may not fit into memory."""

NONE, DIRECT, INVERTED = 0, 1, 2
"""Kinds of repeats. Direct: the end repeats the beginning; inverted: it is the reverse complement."""

_TO_UPPER = np.uint8(0xDF)
_COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
_CODES = np.full(256, 4, np.uint8)
_CODES[list(b"ACGT")] = range(4)


def terminal_repeats(letters: Letters, lengths: IntArray, wanted: BoolArray) -> tuple[ByteArray, IntArray]:
    """Find kind and bases of the repeats of records stored end to end in `letters`; both [k].

    lengths: bases [k]; wanted: which records to examine, if they are long enough.
    """
    kinds, bases = np.full(lengths.size, NONE, np.uint8), np.zeros(lengths.size, np.int64)
    origins = offsets_of(lengths)
    examined = wanted & (lengths >= SHORTEST_SEQUENCE) & (lengths <= LONGEST_SEQUENCE)
    for place in np.flatnonzero(examined).tolist():
        sequence = letters.read(int(origins[place]), int(origins[place + 1])) & _TO_UPPER
        kinds[place], bases[place] = terminal_repeat(sequence.tobytes())
    return kinds, bases


def terminal_repeat(sequence: bytes) -> tuple[int, int]:
    """Find kind and bases of the longest repeat of a sequence's ends, in upper case."""
    direct, inverted = _direct(sequence), _inverted(sequence)
    length = max(direct, inverted)
    if length == 0 or _is_flagged(sequence, sequence[:length]):
        return NONE, 0
    return (DIRECT, direct) if direct >= inverted else (INVERTED, inverted)


def _direct(sequence: bytes) -> int:
    beginning = sequence[:SHORTEST]
    place = sequence.find(beginning, max((len(sequence) + 1) // 2, len(sequence) - LONGEST))
    while place >= 0:
        length = len(sequence) - place
        if sequence.endswith(sequence[:length]):
            return length
        place = sequence.find(beginning, place + 1)
    return 0


def _inverted(sequence: bytes) -> int:
    head = sequence[:LONGEST_INVERTED]
    end = sequence[: -LONGEST_INVERTED - 1 : -1].translate(_COMPLEMENT)
    length = next((place for place, (a, b) in enumerate(zip(head, end, strict=True)) if a != b), len(head))
    return length if length >= SHORTEST else 0


def _is_flagged(sequence: bytes, repeat: bytes) -> bool:
    return (
        repeat.count(b"N") > MOST_N * len(repeat)
        or max(map(repeat.count, set(repeat))) > MOST_OF_ONE_LETTER * len(repeat)
        or sequence.count(repeat) > MOST_COPIES
        or _occurrences_of_a_word(sequence) > MOST_OF_EACH_WORD
    )


def _occurrences_of_a_word(sequence: bytes) -> float:
    """Average the occurrences of the 21-mers of A, C, G and T, each together with its reverse complement."""
    codes = _CODES[np.frombuffer(sequence, np.uint8)]
    n = codes.size - SHORTEST + 1
    forward, backward, unknown = (np.zeros(n, np.int64) for _ in range(3))
    for place in range(SHORTEST):
        letter = codes[place : place + n].astype(np.int64)
        forward = forward * 4 + letter
        backward += (3 - letter) << (2 * place)
        unknown |= letter == 4
    words = np.minimum(forward, backward)[unknown == 0]
    return float(words.size / max(1, np.unique(words).size))
