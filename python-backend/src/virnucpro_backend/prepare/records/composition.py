"""Detects lower-case, ambiguous and foreign letters, and sequences of proteins and RNA."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, translate
from virnucpro_backend.prepare.scanning.scanner import GAPS

LOWER_CASE = 1
AMBIGUOUS = 2
INVALID = 4
"""A byte that is no printable ASCII character."""
FOREIGN = 8
"""A sign that no alphabet of sequences has, such as that of a header, a digit or a punctuation mark."""
GAP = 16
"""A gap of an alignment, or what pads it."""

_PRINTABLE = range(0x21, 0x7F)
_DIGITS = np.frombuffer(b"0123456789", np.uint8)
# Not IUPAC nucleotide codes: these letters only occur in proteins. X is left out, since programs that mask
# nucleotide sequences write it, too.
_PROTEIN_ONLY = np.frombuffer(b"EFILPQZefilpqz", np.uint8)
_URACIL = np.frombuffer(b"Uu", np.uint8)
# A third of the residues of proteins have one of these letters. In DNA, I (inosine) occurs in primers.
_PROTEIN_AT_LEAST = 0.1
_RNA_AT_LEAST = 0.05


def _letter_flags() -> bytes:
    flags = bytearray(256)
    for byte in range(256):
        sign = chr(byte)
        if byte not in _PRINTABLE:
            flags[byte] = INVALID
        elif byte in GAPS:
            flags[byte] = GAP
        elif not sign.isalpha() and sign != "?":
            flags[byte] = FOREIGN
        else:
            flags[byte] = LOWER_CASE * sign.islower() | AMBIGUOUS * (sign.upper() not in "ACGT")
    return bytes(flags)


LETTER_FLAGS = _letter_flags()


def _is_one_of(letters: ByteArray) -> bytes:
    table = bytearray(256)
    for letter in letters.tolist():
        table[letter] = 1
    return bytes(table)


_IS_PROTEIN_ONLY = _is_one_of(_PROTEIN_ONLY)
_IS_URACIL = _is_one_of(_URACIL)


class Found(NamedTuple):
    """What segments of letters hold, [k] each.

    flags: uint8, LOWER_CASE, AMBIGUOUS, INVALID, FOREIGN and GAP, each set if one of a segment's letters has
    it.
    protein_only, uracil: int64, how many letters only occur in proteins, and how many are U.
    """

    flags: ByteArray
    protein_only: IntArray
    uracil: IntArray


class Composition:
    """Counts an input's letters, and describes its sequences."""

    def __init__(self) -> None:
        self.bases = 0
        self._others = np.zeros(256, np.int64)  # Letters other than upper-case A, C, G or T.

    def add(self, letters: ByteArray, begins: IntArray) -> Found:
        """Count letters; return what the segments hold that begin at `begins` (ascending)."""
        self.bases += letters.size
        found = Found(np.zeros(begins.size, np.uint8), *np.zeros((2, begins.size), np.int64))
        others = letters.tobytes().translate(None, b"ACGT")
        if not others:
            return found
        counts = np.bincount(np.frombuffer(others, np.uint8), minlength=256)
        self._others += counts
        # reduceat gives an empty segment the next letter's value, so empty segments are left out.
        filled = np.diff(np.append(begins, letters.size)) > 0
        found.flags[filled] = np.bitwise_or.reduceat(translate(letters, LETTER_FLAGS), begins[filled])
        for number, of_kind, table in (
            (found.protein_only, _PROTEIN_ONLY, _IS_PROTEIN_ONLY),
            (found.uracil, _URACIL, _IS_URACIL),
        ):
            if counts[of_kind].any():
                number[filled] = np.add.reduceat(translate(letters, table), begins[filled], dtype=np.int64)
        return found

    @property
    def ambiguous(self) -> int:
        """Number of letters other than A, C, G and T, of either case."""
        return int(self._others.sum() - self._others[np.frombuffer(b"acgt", np.uint8)].sum())

    @property
    def looks_like_numbers(self) -> bool:
        """Whether at least half of the letters are digits."""
        return self.bases > 0 and 2 * int(self._others[_DIGITS].sum()) >= self.bases


def are_proteins(lengths: IntArray, protein_only: IntArray) -> BoolArray:
    """Whether at least a tenth of each sequence's letters only occur in proteins, bool [k]."""
    return (protein_only > 0) & (protein_only >= _PROTEIN_AT_LEAST * lengths)


def are_rna(lengths: IntArray, uracil: IntArray) -> BoolArray:
    """Whether at least a twentieth of each sequence's letters are U, bool [k]."""
    return (uracil > 0) & (uracil >= _RNA_AT_LEAST * lengths)
