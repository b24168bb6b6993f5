"""The result of the FASTA and FASTQ scanners for one block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray

MAX_HEADER_BYTES = 1 << 20
WHITE_SPACE = b"\n\r \t"


@dataclass(frozen=True)
class ScanBatch:
    """The records and letters that a block of input added.

    letters: uint8 [n], letters of sequences, as written, without white space. Those before begins[0] continue
    the record that was already open. begins: int64 [k], where the new records begin in `letters`.
    byte_offsets: int64 [k], position of a record's first byte in the decompressed stream. headers: full
    header lines without '>' or '@' and line end, end to end; header_counts: int64 [k], bytes of each.
    malformed: the fault, by the number of the record within the input; reported before the next record
    begins. comment_lines: lines inside records that were left out as comments.
    """

    letters: ByteArray
    begins: IntArray
    byte_offsets: IntArray
    headers: bytes
    header_counts: IntArray
    malformed: dict[int, str] = field(default_factory=dict)
    comment_lines: int = 0


EMPTY_BATCH = ScanBatch(
    np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), b"", np.zeros(0, np.int64)
)


def without_white_space(joined: bytes, bounds: IntArray) -> tuple[ByteArray, IntArray]:
    """Drop white space from `joined`; return the letters and the new positions of `bounds` (ascending)."""
    letters = np.frombuffer(joined.translate(None, WHITE_SPACE), np.uint8)
    if letters.size == len(joined):
        return letters, bounds
    data = np.frombuffer(joined, np.uint8)
    places = np.flatnonzero((data == 10) | (data == 13) | (data == 32) | (data == 9))
    return letters, bounds - np.searchsorted(places, bounds)
