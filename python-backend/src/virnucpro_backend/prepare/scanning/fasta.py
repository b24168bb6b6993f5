"""Scans FASTA block by block, with any line ends, line lengths and comments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, IntArray, offsets_of
from virnucpro_backend.prepare.scanning.batch import (
    MAX_HEADER_BYTES,
    WHITE_SPACE,
    ScanBatch,
    without_white_space,
)

_LINE_FEED, _CARRIAGE_RETURN = 10, 13
_HEADER = ord(">")
_COMMENTS = (ord(";"), ord("#"))


class _CutHeader(NamedTuple):
    """A header line cut by the end of a block: its text so far and its offset in the stream."""

    text: bytes
    offset: int


class FastaScanner:
    """Keeps between blocks which kind of line the block's end cut, and the header so far if it is one."""

    def __init__(self) -> None:
        self._offset = 0
        self._cut_line: int | None = None  # First byte of the line that continues in the next block.
        self._cut_header: _CutHeader | None = None
        self._records = 0
        self._seen_header = False

    def feed(self, block: bytes) -> ScanBatch:
        """See `Scanner.feed`."""
        batch = self._scan(block)
        self._offset += len(block)
        return batch

    def finish(self) -> ScanBatch:
        """See `Scanner.finish`."""
        # A line feed closes a header without a line end, and has no other effect.
        return self._scan(b"\n")

    def _scan(self, block: bytes) -> ScanBatch:
        data = np.frombuffer(block, np.uint8)
        starts, ends = _lines(block)
        first = data[starts]
        goes_on = self._cut_line is not None
        if self._cut_line is not None:
            first[0] = self._cut_line
        self._cut_line = int(first[-1]) if ends[-1] == data.size else None
        is_header = first == _HEADER
        special = np.flatnonzero(is_header | (first == _COMMENTS[0]) | (first == _COMMENTS[1]))

        comment_lines = self._comments_in_records(is_header[special], special, goes_on)

        # Sequence text is before the first header or comment line and after each of them.
        segment_begin = np.concatenate([[0], ends[special]])
        segment_end = np.append(starts[special], data.size)
        joined = b"".join(map(block.__getitem__, map(slice, segment_begin.tolist(), segment_end.tolist())))
        counts = segment_end - segment_begin
        segment_places = offsets_of(counts)[:-1]
        if b" " in joined or b"\t" in joined:
            letters, segment_places = without_white_space(joined, segment_places)
        else:
            # Only line ends must be removed: i of them come before the segment after line i.
            letters = np.frombuffer(joined.translate(None, WHITE_SPACE), np.uint8)
            segment_places -= np.concatenate([[0], special])

        texts, offsets = self._headers(block, starts, ends, np.flatnonzero(is_header))
        # A record begins with the segment after its header; after a cut header it has not begun.
        begins = segment_places[1:][is_header[special]][: len(texts)]
        malformed: dict[int, str] = {}
        if not self._seen_header:
            lead = int(begins[0]) if begins.size else letters.size
            letters, begins = letters[lead:], begins - lead
            if lead and self._records == 0:
                # It becomes a separate record without letters, so that it is named and counted.
                malformed[0] = "text before the first '>'"
                texts.insert(0, b"")
                place = self._offset + _first_visible(block, segment_begin, segment_end)
                offsets, begins = np.append(place, offsets), np.append(0, begins)
            self._seen_header = begins.size > len(malformed)
        header_counts = np.fromiter(map(len, texts), np.int64, len(texts))
        for number in np.flatnonzero(header_counts > MAX_HEADER_BYTES).tolist():
            texts[number] = texts[number][:MAX_HEADER_BYTES]
            header_counts[number] = MAX_HEADER_BYTES
            malformed[self._records + number] = f"header line longer than {MAX_HEADER_BYTES:,} bytes"
        self._records += len(texts)
        return ScanBatch(letters, begins, offsets, b"".join(texts), header_counts, malformed, comment_lines)

    def _comments_in_records(self, is_header: BoolArray, lines: IntArray, goes_on: bool) -> int:
        """Count the comments after a header among these header and comment lines.

        `goes_on`: whether the block's first line began in an earlier block, where it was counted.
        """
        inside = np.logical_or.accumulate(is_header) | self._seen_header
        return int(np.count_nonzero(inside & ~is_header & ~((lines == 0) & goes_on)))

    def _headers(
        self, block: bytes, starts: IntArray, ends: IntArray, lines: IntArray
    ) -> tuple[list[bytes], IntArray]:
        """Return the headers that end in this block, and where their lines begin in the stream."""
        slices = map(slice, (starts[lines] + 1).tolist(), ends[lines].tolist())
        texts = list(map(block.__getitem__, slices))
        offsets = starts[lines] + self._offset
        if self._cut_header is not None:
            texts[0] = self._cut_header.text + block[: ends[0]]
            offsets[0] = self._cut_header.offset
            self._cut_header = None
        if self._cut_line == _HEADER:
            # Keep one byte more than allowed, so that a header that is too long is noticed later.
            self._cut_header = _CutHeader(texts.pop()[: MAX_HEADER_BYTES + 1], int(offsets[-1]))
            offsets = offsets[:-1]
        return texts, offsets


def _lines(block: bytes) -> tuple[IntArray, IntArray]:
    """Return the begin and end of every line without line ends; the block's end may cut the last one."""
    data = np.frombuffer(block, np.uint8)
    is_break = data == _LINE_FEED
    if b"\r" in block:
        # A carriage return also ends a line; the empty line inside a CRLF is harmless.
        is_break |= data == _CARRIAGE_RETURN
    breaks = np.flatnonzero(is_break)
    starts = np.concatenate([[0], breaks + 1])
    if starts[-1] == data.size:
        return starts[:-1], breaks
    return starts, np.append(breaks, data.size)


def _first_visible(block: bytes, begins: IntArray, ends: IntArray) -> int:
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        text = block[begin:end]
        if text.strip(b" \t\r\n"):
            return int(begin + len(text) - len(text.lstrip(b" \t\r\n")))
    raise AssertionError("there are letters, so there is a first one")
