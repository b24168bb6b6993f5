"""Detects lower-case, ambiguous and invalid letters, and those of proteins and RNA."""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, translate
from virnucpro_backend.prepare.scanning.scanner import GAPS

LOWER_CASE = 1
AMBIGUOUS = 2
INVALID = 4

_LETTERS = range(0x21, 0x7F)
# Not IUPAC nucleotide codes: these letters only occur in proteins.
_PROTEIN_ONLY = np.frombuffer(b"EFILPQZXefilpqzx*", np.uint8)
_AT_LEAST = 0.05
# An alignment of close relatives has few gaps; a single sequence has none.
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
    """Counts an input's letters, and flags its sequences."""

    def __init__(self) -> None:
        self.bases = 0
        self._others = np.zeros(256, np.int64)  # Letters other than upper-case A, C, G or T.

    def add(self, letters: ByteArray, begins: IntArray) -> ByteArray:
        """Count letters; return the flags of the segments that begin at `begins` (ascending), uint8 [k].

        A segment's flags are LOWER_CASE, AMBIGUOUS and INVALID; each is set if one of its letters has it.
        """
        self.bases += letters.size
        flags = np.zeros(begins.size, np.uint8)
        others = letters.tobytes().translate(None, b"ACGT")
        if not others:
            return flags
        self._others += np.bincount(np.frombuffer(others, np.uint8), minlength=256)
        # reduceat gives an empty segment the next letter's flags, so empty segments are left out.
        filled = np.diff(np.append(begins, letters.size)) > 0
        flags[filled] = np.bitwise_or.reduceat(translate(letters, LETTER_FLAGS), begins[filled])
        return flags

    @property
    def ambiguous(self) -> int:
        """Number of letters other than A, C, G and T, of either case."""
        return int(self._others.sum() - self._others[np.frombuffer(b"acgt", np.uint8)].sum())

    @property
    def looks_like_protein(self) -> bool:
        """Whether at least a twentieth of the letters only occur in proteins."""
        return self.bases > 0 and int(self._others[_PROTEIN_ONLY].sum()) >= _AT_LEAST * self.bases

    @property
    def looks_like_rna(self) -> bool:
        """Whether at least a twentieth of the letters are U, and it isn't a protein."""
        uracil = int(self._others[ord("U")] + self._others[ord("u")])
        return self.bases > 0 and not self.looks_like_protein and uracil >= _AT_LEAST * self.bases

    @property
    def looks_like_alignment(self) -> bool:
        """Whether at least one letter in 200 is a gap, and it isn't a protein."""
        gaps = int(self._others[np.frombuffer(GAPS, np.uint8)].sum())
        return self.bases > 0 and not self.looks_like_protein and gaps >= _GAPS_AT_LEAST * self.bases
