"""Finds the open reading frames of many chunks at once, in all six frames.

Stop codons are found per position of the sequence, on both strands, once for all chunks that cover it. Only
frames without them are then copied and translated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from virnucpro_backend.prepare.arrays import (
    BoolArray,
    ByteArray,
    IntArray,
    offsets_of,
    ragged_slices,
    translate,
)

FRAME_NAMES = ("F1", "F2", "F3", "R1", "R2", "R3")

_BASES = "ACGT"
GeneticCode = Literal[4, 11, 15]
"""The number of a translation table of NCBI."""
STANDARD: GeneticCode = 11
"""Translates as table 1; the two differ in where proteins begin."""
# Codons in the order TTT, TTC, TTA, TTG, TCT, ...
_TABLES: dict[GeneticCode, str] = {
    4: "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    11: "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    15: "FFLLSSSSYY*QCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
}
_NCBI_BASES = "TCAG"

# A codon is stored in a byte: two bits per base, and bit 6 if one of its letters is not A, C, G or T.
_SKIPPED = 0x40


def _residue_table(residues: str) -> bytes:
    table = bytearray(256)
    for i, first in enumerate(_NCBI_BASES):
        for j, second in enumerate(_NCBI_BASES):
            for k, third in enumerate(_NCBI_BASES):
                codon = 16 * _BASES.index(first) + 4 * _BASES.index(second) + _BASES.index(third)
                table[codon] = ord(residues[16 * i + 4 * j + k])
    return bytes(table)


_UPPER = bytes(range(256)).upper()
_UPPER_COMPLEMENT = _UPPER.translate(bytes.maketrans(b"ACGT", b"TGCA"))
_BASE_CODES = bytes(_BASES.find(chr(byte)) if chr(byte) in _BASES else _SKIPPED for byte in range(256))
_RESIDUES = {code: _residue_table(residues) for code, residues in _TABLES.items()}
_SKIPPED_CODONS = bytes(byte for byte in range(256) if byte & _SKIPPED)
_TO_UPPER = np.uint8(0xDF)


@dataclass(frozen=True)
class Frames:
    """Open reading frames, ordered by chunk and then F1 F2 F3 R1 R2 R3.

    chunk: int64 [f], index into the given chunks; frame: uint8 [f], 0..5 = FRAME_NAMES;
    residues: uint8, the ASCII letters of all proteins end to end, residue_counts: int64 [f];
    nucleotides, nucleotide_counts: the same for the upper-case slices given to DNABERT-S.
    lost_to_tag, lost_to_tga: int64, chunks without any frame that would have one if TAG, or TGA, were not a
    stop codon, as in the genetic codes 15 and 4; none if it is no stop codon.
    """

    chunk: IntArray
    frame: ByteArray
    residues: ByteArray
    residue_counts: IntArray
    nucleotides: ByteArray
    nucleotide_counts: IntArray
    lost_to_tag: IntArray
    lost_to_tga: IntArray


def open_frames(
    letters: ByteArray, starts: IntArray, lengths: IntArray, code: GeneticCode = STANDARD
) -> Frames:
    """Find frames without a stop and with a residue in chunks letters[starts[i] : starts[i] + lengths[i]].

    letters: uint8 [n], ASCII, any case; starts, lengths: int64 [m], chunks may overlap. The rules are
    those of the original VirNucPro, which knows only the standard genetic code: a codon with a letter other
    than A, C, G, T is skipped; nucleotides = strand[f : f + 1 + 3 * residues], cut at the chunk's end.
    """
    stops = StopCodons(letters, code)
    codon_counts, strands = stops.of_chunks(starts, lengths)
    holds_stop = _hold_stop(strands)
    lost = np.flatnonzero(holds_stop.all(axis=1))
    lost_to_tag, lost_to_tga = _lost_to(lost, strands, stops.upper)
    is_open = ~holds_stop & np.tile(codon_counts > 0, 2)
    chunk, frame = np.divmod(np.flatnonzero(is_open), len(FRAME_NAMES))

    # DNABERT-S gets one base more than the codons if the chunk has one, as long as no codon is skipped.
    begin, room = _slices_of_strands(letters.size, starts[chunk], lengths[chunk], frame)
    codon_counts = room // 3
    both_strands = _both_strands(letters)
    nucleotide_counts = np.minimum(3 * codon_counts + 1, room)
    nucleotides = ragged_slices(both_strands, begin, nucleotide_counts)

    codons = _codons(nucleotides, nucleotide_counts, codon_counts)
    residues = translate(codons, _RESIDUES[code], delete=_SKIPPED_CODONS)
    residue_counts = codon_counts
    if residues.size < codons.size:
        is_residue = codons & _SKIPPED == 0
        residue_counts = np.add.reduceat(is_residue, offsets_of(codon_counts)[:-1], dtype=np.int64)
        kept = residue_counts > 0
        chunk, frame, begin, room = chunk[kept], frame[kept], begin[kept], room[kept]
        residue_counts = residue_counts[kept]
        nucleotide_counts = np.minimum(3 * residue_counts + 1, room)
        nucleotides = ragged_slices(both_strands, begin, nucleotide_counts)
    return Frames(
        chunk,
        frame.astype(np.uint8),
        residues,
        residue_counts,
        nucleotides,
        nucleotide_counts,
        lost_to_tag,
        lost_to_tga,
    )


def _codon_ranges(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The lowest codon position of each forward and reverse frame, and their codon counts, all [m, 3].

    On the reverse strand, frame f reads codons at strand positions f, f + 3, .... On the forward strand they
    begin at length - 3 - f, length - 6 - f, ...; the lowest of these is (length - f) mod 3.
    """
    shift = np.arange(3)
    thirds = lengths // 3
    rest = lengths - 3 * thirds
    borrowed = shift > rest[:, None]
    codon_counts = thirds[:, None] - borrowed
    first_reverse = (starts + rest)[:, None] - shift + 3 * borrowed
    return starts[:, None] + shift, first_reverse, codon_counts


def _stop_codons(upper: ByteArray, code: GeneticCode) -> tuple[BoolArray, BoolArray]:
    """Mark where a stop codon begins, and where the reverse complement of one begins; both [n - 2]."""
    is_a, is_c, is_g, is_t = (upper == ord(base) for base in _BASES)
    first, second, third = slice(0, -2), slice(1, -1), slice(2, None)
    forward = is_a[second] & (is_a if code == 15 else is_a | is_g)[third]
    reverse = is_t[second] & (is_t if code == 15 else is_t | is_c)[first]
    if code != 4:
        forward |= is_g[second] & is_a[third]
        reverse |= is_c[second] & is_t[first]
    forward &= is_t[first]
    reverse &= is_a[third]
    return forward, reverse


class _Places:
    """Where codons of one kind begin, for searches within one frame. flags: whether one begins [n - 2]."""

    def __init__(self, flags: BoolArray) -> None:
        # One sorted array of all flagged places: places / 3, in one band for each remainder modulo 3.
        self.band = flags.size // 3 + 2
        places = [np.flatnonzero(flags[remainder::3]) + remainder * self.band for remainder in range(3)]
        self.keys = np.concatenate([*places, [3 * self.band]])

    def keys_of(self, first: IntArray) -> IntArray:
        """Return the keys of codons that begin at these places."""
        row = first // 3
        return row + (first - 3 * row) * self.band


class _Stops:
    """The stop codons of one strand, and the chunks' frames on it.

    first, counts: each frame's lowest codon and number of codons, both [m, 3].
    """

    def __init__(self, places: _Places, first: IntArray, counts: IntArray) -> None:
        self._band, self._keys = places.band, places.keys
        begin = places.keys_of(first)
        self._end = begin + counts
        self._next = np.searchsorted(self._keys, begin)

    def held(self) -> BoolArray:
        """Whether each frame holds a stop codon [m, 3]."""
        found: BoolArray = self._keys[self._next] < self._end
        return found

    def only(self, chunks: IntArray, is_allowed: Callable[[IntArray], BoolArray]) -> BoolArray:
        """Which of these chunks have a frame with only allowed stop codons; every frame has at least one.

        is_allowed: decides from the place where a stop codon begins. Few frames get past their first.
        """
        following, end = self._next[chunks].ravel(), self._end[chunks].ravel()
        frame = np.arange(following.size)
        found = np.zeros(chunks.size, np.bool_)
        while frame.size:
            band, row = np.divmod(self._keys[following], self._band)
            allowed = is_allowed(3 * row + band)
            frame, following, end = frame[allowed], following[allowed] + 1, end[allowed]
            goes_on = self._keys[following] < end
            found[frame[~goes_on] // 3] = True
            frame, following, end = frame[goes_on], following[goes_on], end[goes_on]
        return found


class StopCodons:
    """The stop codons on both strands of letters (uint8 [n], ASCII), found once for all chunk lengths."""

    def __init__(self, letters: ByteArray, code: GeneticCode) -> None:
        self.upper = letters & _TO_UPPER
        self._forward, self._reverse = (_Places(flags) for flags in _stop_codons(self.upper, code))

    def of_chunks(self, starts: IntArray, lengths: IntArray) -> tuple[IntArray, tuple[_Stops, _Stops]]:
        """The number of codons of each chunk's three frames [m, 3], and the stops of both strands."""
        first_forward, first_reverse, counts = _codon_ranges(starts, lengths)
        return counts, (
            _Stops(self._forward, first_forward, counts),
            _Stops(self._reverse, first_reverse, counts),
        )

    def residues(self, starts: IntArray, lengths: IntArray) -> IntArray:
        """Count the residues of each chunk's frames, as `open_frames` does [m, 6]; 0: not open."""
        counts, strands = self.of_chunks(starts, lengths)
        residues = np.tile(counts.clip(0), 2)
        if self._skipped is not None:
            first_forward, first_reverse, _ = _codon_ranges(starts, lengths)
            begin = self._skipped.keys_of(np.concatenate([first_forward, first_reverse], axis=1))
            keys = self._skipped.keys
            residues -= np.searchsorted(keys, begin + residues) - np.searchsorted(keys, begin)
        residues[_hold_stop(strands)] = 0
        return residues

    @cached_property
    def _skipped(self) -> _Places | None:
        """The codons with a letter other than A, C, G, T, if there are any."""
        known = np.logical_or.reduce([self.upper == ord(base) for base in _BASES])
        return None if known.all() else _Places(~(known[:-2] & known[1:-1] & known[2:]))


def _hold_stop(strands: tuple[_Stops, _Stops]) -> BoolArray:
    """Whether each chunk's frames hold a stop codon [m, 6]."""
    return np.concatenate([strand.held() for strand in strands], axis=1)


def _lost_to(lost: IntArray, strands: tuple[_Stops, _Stops], upper: ByteArray) -> tuple[IntArray, IntArray]:
    """The chunks without an open frame in which only TAG, and only TGA, closes a frame."""
    forward, reverse = strands
    # One letter identifies a stop codon (TAA, TAG, TGA) or its reverse complement (TTA, CTA, TCA).
    tag = forward.only(lost, lambda at: upper[at + 2] == ord("G"))
    tag |= reverse.only(lost, lambda at: upper[at] == ord("C"))
    tga = forward.only(lost, lambda at: upper[at + 1] == ord("G"))
    tga |= reverse.only(lost, lambda at: upper[at + 1] == ord("C"))
    return lost[tag], lost[tga]


def _both_strands(letters: ByteArray) -> bytes:
    """Return the letters in upper case, followed by their reverse complement."""
    forward = letters.tobytes()
    if letters.size and letters.max() >= ord("a"):
        forward = forward.translate(_UPPER)
    return forward + letters[::-1].tobytes().translate(_UPPER_COMPLEMENT)


def _slices_of_strands(
    n: int, starts: IntArray, lengths: IntArray, frame: IntArray
) -> tuple[IntArray, IntArray]:
    """Where each frame begins in `_both_strands` of n letters, and how many letters its chunk has left."""
    shift = frame % 3
    return np.where(frame < 3, starts, 2 * n - (starts + lengths)) + shift, lengths - shift


def _codons(nucleotides: ByteArray, nucleotide_counts: IntArray, codon_counts: IntArray) -> ByteArray:
    """Return the codons of slices that hold 3 * codon_counts letters, or one more."""
    bases = translate(nucleotides, _BASE_CODES)
    with_one_more = nucleotide_counts > 3 * codon_counts
    bases = np.delete(bases, offsets_of(nucleotide_counts)[1:][with_one_more] - 1).reshape(-1, 3)
    # The products shift bit 6 of the first two letters out of the byte, so it is set again here.
    codons: ByteArray = bases[:, 0] * np.uint8(16) + bases[:, 1] * np.uint8(4) + bases[:, 2]
    codons |= (bases[:, 0] | bases[:, 1]) & np.uint8(_SKIPPED)
    return codons
