"""The result of the FASTA and FASTQ scanners for one block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray

MAX_HEADER_BYTES = 1 << 20
WHITE_SPACE = b"\n\r \t"


@dataclass(frozen=True)
class Stretch:
    """Lines of the file that belong to no record.

    after: how many records begin before it. offset: its first byte in the decompressed stream. first_line:
    counted from 1. lines, bytes: how many, with line ends.
    """

    after: int
    offset: int
    first_line: int
    lines: int
    bytes: int


def _unknown_line(_: int) -> int:
    raise AssertionError("a batch without letters has no lines of letters")


@dataclass(frozen=True)
class ScanBatch:
    """The records and letters that a block of input added.

    letters: uint8 [n], letters of sequences, as written, without white space. Those before begins[0] continue
    the record that was already open. begins: int64 [k], where the new records begin in `letters`.
    byte_offsets: int64 [k], position of a record's first byte in the decompressed stream. headers: full
    header lines without '>' or '@' and line end, end to end; header_counts: int64 [k], bytes of each.
    malformed: the fault, by the number of the record within the input; reported before the next record
    begins. passed_over: stretches that end in this block. comment_lines: lines inside records that were left
    out as comments. line_of: the line of the file, counted from 1, in which a letter stands; the argument is
    the letter's place in `letters`. It is slow, and only for messages.
    """

    letters: ByteArray
    begins: IntArray
    byte_offsets: IntArray
    headers: bytes
    header_counts: IntArray
    malformed: dict[int, str] = field(default_factory=dict)
    passed_over: tuple[Stretch, ...] = ()
    comment_lines: int = 0
    line_of: Callable[[int], int] = _unknown_line


def without_white_space(joined: bytes, bounds: IntArray) -> tuple[ByteArray, IntArray]:
    """Drop white space from `joined`; return the letters and the new positions of `bounds` (ascending)."""
    letters = np.frombuffer(joined.translate(None, WHITE_SPACE), np.uint8)
    if letters.size == len(joined):
        return letters, bounds
    data = np.frombuffer(joined, np.uint8)
    places = np.flatnonzero(is_white_space(data))
    return letters, bounds - np.searchsorted(places, bounds)


def is_white_space(data: ByteArray) -> BoolArray:
    """Whether each byte is one of WHITE_SPACE, bool [n]."""
    found: BoolArray = (data == 10) | (data == 13) | (data == 32) | (data == 9)
    return found


def line_ends(text: bytes) -> int:
    """How many lines end in `text`, with LF, CRLF or a lone CR."""
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def size_text(lines: int, size: int) -> str:
    """Say how many lines and bytes something has."""
    return f"{lines:,} line{'' if lines == 1 else 's'}, {size:,} byte{'' if size == 1 else 's'}"
