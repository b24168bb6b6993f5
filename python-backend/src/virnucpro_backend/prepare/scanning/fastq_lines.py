"""Splits a FASTQ buffer into lines, and finds those that begin a four-line record."""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, ByteArray, IntArray, offsets_of

_LINE_FEED, _CARRIAGE_RETURN, _SPACE, _TAB = 10, 13, 32, 9
_AT, _PLUS = ord("@"), ord("+")
_IN_SEQUENCES = string.ascii_letters.encode() + b"*-.~? \t\r\n"


@dataclass(frozen=True)
class FastqLines:
    """The complete lines of a buffer; all arrays [n].

    text: the buffer. starts, ends: where a line begins and ends, without its line end; lengths: its length
    without trailing blanks; first: its first byte. tail: where the text after the last complete line begins.
    """

    text: bytes
    starts: IntArray
    ends: IntArray
    lengths: IntArray
    first: ByteArray
    tail: int

    @property
    def count(self) -> int:
        """The number of complete lines, n."""
        return self.starts.size

    def text_of(self, begin: int, end: int) -> bytes:
        """The text of the lines begin..end-1, of which there is at least one, with the line ends between."""
        return self.text[int(self.starts[begin]) : int(self.ends[end - 1])]

    def is_sequence(self, begin: int, end: int) -> bool:
        """Whether the lines begin..end-1, of which there is at least one, hold letters of sequences only."""
        return not self.text_of(begin, end).translate(None, _IN_SEQUENCES)

    def may_be_quality(self, line: int) -> bool:
        """Whether a line holds visible ASCII characters only, as quality values are."""
        text = self.text_of(line, line + 1).rstrip()
        return text.isascii() and text.decode("ascii").isprintable() and b" " not in text

    def is_quality_only(self, line: int) -> bool:
        """Whether a line may hold quality values and can be neither sequence, nor '+' and a name."""
        return (
            bool(self.first[line] != _PLUS)
            and not self.is_sequence(line, line + 1)
            and self.may_be_quality(line)
        )

    @cached_property
    def totals(self) -> IntArray:
        """How long all lines before each line are together, and at last all lines, int64 [n + 1]."""
        return offsets_of(self.lengths)

    @cached_property
    def is_record(self) -> BoolArray:
        """Whether each line begins a four-line record: a head with as many letters as quality values."""
        whole = np.zeros(self.count, np.bool_)
        if self.count >= 4:
            whole[:-3] = self._is_head[:-3] & (self.lengths[1:-2] == self.lengths[3:])
        return whole

    @cached_property
    def plus_lines(self) -> IntArray:
        """The numbers of the lines that begin with '+', ascending."""
        return np.flatnonzero(self.first == _PLUS)

    @cached_property
    def at_lines(self) -> IntArray:
        """The numbers of the lines that begin with '@', ascending."""
        return np.flatnonzero(self.first == _AT)

    @cached_property
    def written_lines(self) -> IntArray:
        """Lines that are not empty."""
        return np.flatnonzero(self.lengths > 0)

    def end_of_records(self, line: int) -> int:
        """The end of the unbroken run of four-line records that begins at `line`, or `line` if none does."""
        phase = line % 4
        rows_of_phase = (self.count - phase + 3) // 4
        return phase + 4 * next_place(self._broken[phase], line // 4, rows_of_phase)

    @cached_property
    def _is_head(self) -> BoolArray:
        head = np.zeros(self.count, np.bool_)
        if self.count >= 3:
            second = self.first[1:-1]
            head[:-2] = (
                (self.first[:-2] == _AT) & (second != _AT) & (second != _PLUS) & (self.first[2:] == _PLUS)
            )
        return head

    @cached_property
    def _broken(self) -> list[IntArray]:
        """For each phase 0..3, the numbers i of lines phase + 4 i that don't begin a record."""
        return [np.flatnonzero(~self.is_record[phase::4]) for phase in range(4)]


def split_lines(buffer: bytes, *, final: bool) -> FastqLines:
    """Split a buffer into lines, which end with LF, CRLF, a lone CR or the end of the stream (`final`)."""
    data = np.frombuffer(buffer, np.uint8)
    breaks = np.flatnonzero(data == _LINE_FEED)
    ends = breaks
    if b"\r" in buffer:
        breaks = _with_lone_returns(data, breaks, final=final)
        after_return = (data[breaks] == _LINE_FEED) & (data[breaks - 1] == _CARRIAGE_RETURN) & (breaks > 0)
        ends = breaks - after_return
    if final and data.size and (breaks.size == 0 or breaks[-1] != data.size - 1):
        breaks, ends = np.append(breaks, data.size), np.append(ends, data.size)
    starts = np.concatenate([[0], breaks[:-1] + 1]) if breaks.size else breaks
    tail = min(int(breaks[-1]) + 1, data.size) if breaks.size else 0
    return FastqLines(buffer, starts, ends, _lengths(data, starts, ends), data[starts], tail)


def next_place(places: IntArray, at: int, otherwise: int) -> int:
    """Return the first of the sorted places that is not before `at`."""
    index = int(places.searchsorted(at))
    return int(places[index]) if index < places.size else otherwise


def _with_lone_returns(data: ByteArray, line_feeds: IntArray, *, final: bool) -> IntArray:
    returns = np.flatnonzero(data == _CARRIAGE_RETURN)
    if not final and returns[-1] == data.size - 1:
        returns = returns[:-1]  # The line feed may be the first byte of the next block.
    inside = returns[returns < data.size - 1]
    lone = np.concatenate([inside[data[inside + 1] != _LINE_FEED], returns[inside.size :]])
    return np.sort(np.concatenate([line_feeds, lone]))


def _lengths(data: ByteArray, starts: IntArray, ends: IntArray) -> IntArray:
    lengths = ends - starts
    while True:
        last = data[np.maximum(starts + lengths - 1, 0)] if lengths.size else data[:0]
        blank = ((last == _SPACE) | (last == _TAB)) & (lengths > 0)
        if not blank.any():
            return lengths
        lengths = lengths - blank
