"""Scans FASTA block by block, with any line ends, line lengths and comments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, IntArray, offsets_of
from virnucpro_backend.prepare.scanning.batch import (
    MAX_HEADER_BYTES,
    WHITE_SPACE,
    ScanBatch,
    Stretch,
    is_white_space,
    line_ends,
    without_white_space,
)

_LINE_FEED, _CARRIAGE_RETURN = 10, 13
_HEADER = ord(">")
_COMMENTS = (ord(";"), ord("#"))


class _CutHeader(NamedTuple):
    """A header line cut by the end of a block: its text so far and its offset in the stream."""

    text: bytes
    offset: int


@dataclass(frozen=True)
class _LinesOfLetters:
    """Finds the lines of a block's letters. begins, ends: header and comment lines; lead: letters left out.

    lines: how many ended before; after_return: as in FastaScanner.
    """

    block: bytes
    begins: IntArray
    ends: IntArray
    lead: int
    lines: int
    after_return: bool

    def line_of(self, letter: int) -> int:
        """See `ScanBatch.line_of`."""
        text = self.block[: int(self._places[self.lead + letter])]
        return self.lines + _line_ends_after(text, self.after_return) + 1

    @cached_property
    def _places(self) -> IntArray:
        is_letter = ~is_white_space(np.frombuffer(self.block, np.uint8))
        for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
            is_letter[begin:end] = False
        return np.flatnonzero(is_letter)


class FastaScanner:
    """Keeps between blocks which kind of line the block's end cut, and the header so far if it is one."""

    def __init__(self) -> None:
        self._offset = 0
        self._cut_line: int | None = None  # First byte of the line that continues in the next block.
        self._cut_header: _CutHeader | None = None
        self._records = 0
        self._seen_header = False
        self._text_before: tuple[int, int] | None = None  # Offset and line of text before the first header.
        self._lines = 0  # Lines that ended in earlier blocks.
        self._after_return = False  # A line feed at the block's beginning would belong to a carriage return.

    def feed(self, block: bytes) -> ScanBatch:
        """See `Scanner.feed`."""
        batch = self._scan(block)
        self._offset += len(block)
        self._after_return = block.endswith(b"\r")
        return batch

    def finish(self) -> ScanBatch:
        """See `Scanner.finish`."""
        lines = self._lines + (self._cut_line is not None)
        # A line feed closes a header without a line end, and has no other effect.
        batch = self._scan(b"\n")
        return (
            batch if self._text_before is None else replace(batch, passed_over=(self._text_until(0, lines),))
        )

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
        passed_over: tuple[Stretch, ...] = ()
        lead = 0
        if not self._seen_header:
            lead = int(begins[0]) if begins.size else letters.size
            letters, begins = letters[lead:], begins - lead
            if lead and self._text_before is None:
                place = _first_visible(block, segment_begin, segment_end)
                self._text_before = self._offset + place, self._lines + self._line_ends(block[:place]) + 1
            self._seen_header = begins.size > 0
            if self._text_before is not None and is_header.any():
                place = int(starts[np.argmax(is_header)])
                passed_over = (self._text_until(place, self._lines + self._line_ends(block[:place])),)
                self._text_before = None
        header_counts = np.fromiter(map(len, texts), np.int64, len(texts))
        for number in np.flatnonzero(header_counts > MAX_HEADER_BYTES).tolist():
            texts[number] = texts[number][:MAX_HEADER_BYTES]
            header_counts[number] = MAX_HEADER_BYTES
            malformed[self._records + number] = f"header line longer than {MAX_HEADER_BYTES:,} bytes"
        self._records += len(texts)
        lines_before = self._lines
        # Without carriage returns, the lines have been counted already.
        self._lines += self._line_ends(block) if b"\r" in block else starts.size - (ends[-1] == data.size)
        return ScanBatch(
            letters,
            begins,
            offsets,
            b"".join(texts),
            header_counts,
            malformed,
            passed_over,
            comment_lines,
            _LinesOfLetters(
                block, starts[special], ends[special], lead, lines_before, self._after_return
            ).line_of,
        )

    def _line_ends(self, text: bytes) -> int:
        """Return how many lines end in `text`, which stands at the beginning of a block."""
        return _line_ends_after(text, self._after_return)

    def _text_until(self, place: int, last_line: int) -> Stretch:
        """Return the text before the first header, up to a place of this block, where its last line ends."""
        assert self._text_before is not None
        offset, first_line = self._text_before
        return Stretch(0, offset, first_line, last_line - first_line + 1, self._offset + place - offset)

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


def _line_ends_after(text: bytes, after_return: bool) -> int:
    return line_ends(text) - (after_return and text.startswith(b"\n"))


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
