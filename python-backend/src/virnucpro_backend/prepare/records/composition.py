"""What letters a sequence has: lower case, ambiguous, impossible, those of a protein or of RNA."""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, translate
from virnucpro_backend.prepare.scanning.repairs import GAPS

LOWER_CASE = 1
AMBIGUOUS = 2
INVALID = 4

_LETTERS = range(0x21, 0x7F)
# No nucleotide code of IUPAC: only in proteins.
_PROTEIN_ONLY = np.frombuffer(b"EFILPQZXefilpqzx*", np.uint8)
_AT_LEAST = 0.05
# An alignment of close relatives has few gaps, and a single sequence none.
_GAPS_AT_LEAST = 0.005


def _letter_flags() -> bytes:
    flags = bytearray(256)
    for byte in range(256):
        if byte not in _LETTERS:
            flags[byte] = INVALID
            continue
        if chr(byte).islower():
            flags[byte] |= LOWER_CASE
        if chr(byte).upper() not in "ACGT":
            flags[byte] |= AMBIGUOUS
    return bytes(flags)


LETTER_FLAGS = _letter_flags()


class Composition:
    """Counts of an input's letters, and flags of its sequences."""

    def __init__(self) -> None:
        self.bases = 0
        self._others = np.zeros(256, np.int64)  # Letters that are not an upper-case A, C, G or T.

    def add(self, letters: ByteArray, begins: IntArray) -> ByteArray:
        """Count letters; returns the flags of the segments that begin at `begins` (ascending), uint8 [k].

        A segment's flags are LOWER_CASE, AMBIGUOUS and INVALID, set when one of its letters is.
        """
        self.bases += letters.size
        flags = np.zeros(begins.size, np.uint8)
        others = letters.tobytes().translate(None, b"ACGT")
        if not others:
            return flags
        self._others += np.bincount(np.frombuffer(others, np.uint8), minlength=256)
        # reduceat gives an empty segment the next letter's flags; only others have any.
        filled = np.diff(np.append(begins, letters.size)) > 0
        flags[filled] = np.bitwise_or.reduceat(translate(letters, LETTER_FLAGS), begins[filled])
        return flags

    @property
    def ambiguous(self) -> int:
        """Letters other than A, C, G, T of either case."""
        return int(self._others.sum() - self._others[np.frombuffer(b"acgt", np.uint8)].sum())

    @property
    def looks_like_protein(self) -> bool:
        """At least a twentieth of the letters only occur in proteins."""
        return self.bases > 0 and int(self._others[_PROTEIN_ONLY].sum()) >= _AT_LEAST * self.bases

    @property
    def looks_like_rna(self) -> bool:
        """At least a twentieth of the letters are U, and it isn't a protein."""
        uracil = int(self._others[ord("U")] + self._others[ord("u")])
        return self.bases > 0 and not self.looks_like_protein and uracil >= _AT_LEAST * self.bases

    @property
    def looks_like_alignment(self) -> bool:
        """At least one letter in 200 is a gap, and it isn't a protein."""
        gaps = int(self._others[np.frombuffer(GAPS, np.uint8)].sum())
        return self.bases > 0 and not self.looks_like_protein and gaps >= _GAPS_AT_LEAST * self.bases
