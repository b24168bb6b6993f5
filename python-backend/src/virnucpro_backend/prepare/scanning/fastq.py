"""Scans FASTQ block by block: four-line records with arrays, all others line by line.

A record is what Cock et al. (2010, doi:10.1093/nar/gkp1137) define: a line that begins with '@', lines of
sequence, a line that begins with '+', and then as many quality values as letters, however the lines are
broken. A quality line may begin with '@' or '+', a sequence line may not. What doesn't fit belongs to the
record in which it was noticed, or to none, up to the next line that begins a record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray, offsets_of, ragged_indices
from virnucpro_backend.prepare.scanning.batch import (
    MAX_HEADER_BYTES,
    ScanBatch,
    Stretch,
    is_white_space,
    size_text,
    without_white_space,
)
from virnucpro_backend.prepare.scanning.fastq_lines import FastqLines, next_place, split_lines

# A record that is not complete within so many bytes counts as damaged.
MAX_WAITING_BYTES = 32 << 20

_CUT_OFF = "the file ends inside the record"
_TOO_LONG = f"it has more than {MAX_WAITING_BYTES:,} bytes"
_NO_PLUS = "the line with '+' behind the sequence is missing"
_OTHER_VALUES = "the quality values are not as many as the letters"
_COMMENTS = (ord(";"), ord("#"))
_BLANK_WITHIN = re.compile(rb"[ \t][^ \t\r\n]")


@dataclass
class _Found:
    """Records in buffer order: header line, first sequence line and number of sequence lines."""

    header: list[IntArray] = field(default_factory=list)
    sequence_line: list[IntArray] = field(default_factory=list)
    sequence_lines: list[IntArray] = field(default_factory=list)
    count: int = 0

    def add_rows_of_four(self, begin: int, end: int) -> None:
        header = np.arange(begin, end, 4)
        self._add(header, header + 1, np.ones_like(header))

    def add(self, header: int, sequence_lines: int = 0) -> None:
        self._add(np.array([header]), np.array([header + 1]), np.array([sequence_lines]))

    def _add(self, header: IntArray, sequence_line: IntArray, sequence_lines: IntArray) -> None:
        self.header.append(header)
        self.sequence_line.append(sequence_line)
        self.sequence_lines.append(sequence_lines)
        self.count += header.size


@dataclass
class _Damage:
    """Lines from `offset` and `first_line` on that are no whole record.

    record: the record to which they belong, or None if they belong to none. after: as in Stretch. Of a record
    whose quality values don't match, letters: how many it has; values: how many quality values were counted;
    quality_from: the line from which they are not yet counted, from 0.
    """

    offset: int
    first_line: int
    after: int
    record: int | None = None
    problem: str = ""
    letters: int = 0
    values: int = 0
    quality_from: int | None = None


@dataclass(frozen=True)
class _Shape:
    """The lines of a record: the one with '+', and the end of its quality if that is in the buffer."""

    plus: int
    end: int | None
    letters: int
    problem: str | None = None


class FastqScanner:
    """Keeps between blocks the bytes of an unfinished record, and the state of damage."""

    def __init__(self) -> None:
        self._carried = b""
        self._offset = 0  # Of the carried bytes in the stream.
        self._lines = 0  # Lines before the carried bytes.
        self._records = 0
        self._is_wrapped = False  # Whether a record had several lines of sequence or quality.
        self._damage: _Damage | None = None
        self._inside_dropped_line = False  # The carried bytes continue a damaged line that was not kept.
        self._malformed: dict[int, str] = {}
        self._passed_over: list[Stretch] = []

    def feed(self, block: bytes) -> ScanBatch:
        """See `Scanner.feed`."""
        return self._scan(self._carried + block, final=False)

    def finish(self) -> ScanBatch:
        """See `Scanner.finish`."""
        return self._scan(self._carried, final=True)

    def _scan(self, buffer: bytes, *, final: bool) -> ScanBatch:
        lines = split_lines(buffer, final=final)
        found = _Found()
        line = 0
        if self._inside_dropped_line and lines.count:
            line, self._inside_dropped_line = 1, False
        line = self._find_records(lines, found, line, final=final)
        keep_from = _place(lines, line)
        if self._inside_dropped_line or len(buffer) - keep_from > MAX_WAITING_BYTES:
            # It is too long for a header, or inside damage.
            self._damage = self._damage or self._damage_at(lines, line, found)
            self._inside_dropped_line = lines.tail < len(buffer)
            keep_from = len(buffer)
        if self._damage is not None:
            if final:
                self._end_damage(lines, lines.count, len(buffer))
            else:
                self._count_values(self._damage, lines, line)
        batch = self._batch(buffer, lines, found)
        self._carried = buffer[keep_from:]
        self._offset += keep_from
        self._lines += line
        self._records += found.count
        self._malformed, self._passed_over = {}, []
        return batch

    def _find_records(self, lines: FastqLines, found: _Found, line: int, *, final: bool) -> int:
        """Walk over the lines of a buffer; return the first that must wait for more."""
        while line < lines.count:
            may_wait = not final and len(lines.text) - int(lines.starts[line]) <= MAX_WAITING_BYTES
            if self._damage is not None:
                head = _next_head(lines, line)
                if head is None:
                    # The last line with '@' may begin a record that is not complete.
                    last_at = int(lines.at_lines[-1]) if lines.at_lines.size else -1
                    return last_at if may_wait and last_at >= line else lines.count
                self._end_damage(lines, head, int(lines.starts[head]))
                line = head
            elif (written := next_place(lines.written_lines, line, lines.count)) > line:
                line = written
            elif lines.first[line] in _COMMENTS and self._records + found.count == 0:
                line += 1
            elif lines.first[line] != ord("@"):
                self._damage = self._damage_at(lines, line, found)
            else:
                step = (
                    self._rows_of_four(lines, found, line, may_wait=may_wait)
                    if lines.is_record[line]
                    else self._odd_record(lines, found, line, may_wait=may_wait, final=final)
                )
                if step == 0:
                    return line
                line += step
        return line

    def _rows_of_four(self, lines: FastqLines, found: _Found, line: int, *, may_wait: bool) -> int:
        """Add the four-line records from `line` on; return how many lines are done."""
        end = lines.end_of_records(line)
        last = _Shape(end - 2, end, int(lines.lengths[end - 3]))
        fits = self._fits(lines, end - 4, last, may_wait=may_wait)
        known = end if fits else end - 4
        if known > line:
            found.add_rows_of_four(line, known)
        if fits is False:
            return known - line + self._add_damaged(lines, found, known, last)
        return known - line

    def _odd_record(self, lines: FastqLines, found: _Found, line: int, *, may_wait: bool, final: bool) -> int:
        """Return how many lines are done of a record without four matching lines; 0 if it must wait."""
        shape = _shape(lines, line)
        if shape.problem is None:
            if shape.end is None:
                if may_wait:
                    return 0
                problem = _CUT_OFF if final else _TOO_LONG
                return self._add_damaged(lines, found, line, replace(shape, problem=problem))
            if not _swallows_a_record(lines, line, shape.plus, shape.end):
                fits = self._fits(lines, line, shape, may_wait=may_wait)
                if fits is None:
                    return 0
                if fits:
                    found.add(line, shape.plus - line - 1)
                    self._is_wrapped |= shape.end - line > 4
                    return shape.end - line
        return self._add_damaged(lines, found, line, shape)

    def _fits(self, lines: FastqLines, line: int, shape: _Shape, *, may_wait: bool) -> bool | None:
        """Tell whether the lines behind a record that seems whole allow that; None if it must wait.

        Where a line of the sequence is lost, the first quality values match what is left, and the others
        stand behind the record.
        """
        end = cast(int, shape.end)
        is_head = end < lines.count and lines.first[end] == ord("@")
        written = end if is_head else next_place(lines.written_lines, end, lines.count)
        if written == lines.count:
            return None if may_wait else True
        is_wrapped = self._is_wrapped or end - line > 4
        if lines.first[written] == ord("@"):
            if not is_wrapped:
                return True
            if written + 1 == lines.count:
                return None if may_wait else True
            # A line of quality can begin with '@', too; then a header or more quality stands below it.
            return bool(lines.first[written + 1] != ord("@")) and not lines.is_quality_only(written + 1)
        plus = next_place(lines.plus_lines, written, lines.count)
        at = next_place(lines.at_lines, written, lines.count)
        if written < plus < at:
            return True  # The header of the next record is missing.
        if plus == at and may_wait:
            return None
        if shape.letters == 0:
            return written > shape.plus + 1  # Its quality is an empty line.
        head = _next_head(lines, written)
        if head is not None:
            is_wrapped |= next_place(lines.plus_lines, head, lines.count) - head > 2
        # In files with four lines a record, the line is a stray one.
        return not (is_wrapped and lines.may_be_quality(written))

    def _damage_at(self, lines: FastqLines, line: int, found: _Found) -> _Damage:
        return _Damage(
            self._offset + _place(lines, line), self._lines + line + 1, self._records + found.count
        )

    def _add_damaged(self, lines: FastqLines, found: _Found, line: int, shape: _Shape) -> int:
        """Add a record without letters, to which the lines up to the next record belong; return 1."""
        self._damage = replace(
            self._damage_at(lines, line, found),
            record=self._records + found.count,
            problem=shape.problem or "",
            letters=shape.letters,
            quality_from=None if shape.problem else self._lines + shape.plus + 1,
        )
        found.add(line)
        return 1

    def _end_damage(self, lines: FastqLines, line: int, place: int) -> None:
        """The next record begins at this line and place of the buffer."""
        damage = cast(_Damage, self._damage)
        self._damage = None
        count = self._lines + line + self._inside_dropped_line - damage.first_line + 1
        size = self._offset + place - damage.offset
        if damage.record is None:
            self._passed_over.append(Stretch(damage.after, damage.offset, damage.first_line, count, size))
            return
        self._count_values(damage, lines, line)
        # Equal numbers: then what stands there is no quality, but the next record.
        problem = damage.problem or (
            f"{damage.letters:,} letters but {damage.values:,} quality values"
            if damage.letters != damage.values
            else _OTHER_VALUES
        )
        where = f"line {damage.first_line:,} ({size_text(count, size)})"
        self._malformed[damage.record] = f"{problem}; {where}"

    def _count_values(self, damage: _Damage, lines: FastqLines, end: int) -> None:
        if damage.quality_from is not None and end > damage.quality_from - self._lines:
            damage.values += int(lines.totals[end] - lines.totals[damage.quality_from - self._lines])
            damage.quality_from = self._lines + end

    def _batch(self, buffer: bytes, lines: FastqLines, found: _Found) -> ScanBatch:
        none = np.zeros(0, np.int64)
        header = np.concatenate([none, *found.header])
        counts = np.concatenate([none, *found.sequence_lines])
        sequence = ragged_indices(np.concatenate([none, *found.sequence_line]), counts)
        joined = b"".join(
            map(
                buffer.__getitem__, map(slice, lines.starts[sequence].tolist(), lines.ends[sequence].tolist())
            )
        )
        line_places = offsets_of(lines.ends[sequence] - lines.starts[sequence])
        places = line_places[offsets_of(counts)[:-1]]
        if b"." in joined:
            joined = joined.replace(b".", b"N")  # An unknown base; a read is no alignment.
        letters, begins = without_white_space(joined, places)

        text_begin = lines.starts[header] + (lines.first[header] == ord("@"))
        text_end = np.minimum(lines.ends[header], text_begin + MAX_HEADER_BYTES)
        malformed = dict(self._malformed)
        for number in np.flatnonzero(text_end < lines.ends[header]).tolist():
            malformed[self._records + number] = f"header line longer than {MAX_HEADER_BYTES:,} bytes"
        headers = b"".join(map(buffer.__getitem__, map(slice, text_begin.tolist(), text_end.tolist())))
        return ScanBatch(
            letters,
            begins,
            lines.starts[header] + self._offset,
            headers,
            text_end - text_begin,
            malformed,
            tuple(self._passed_over),
            line_of=_LinesOfLetters(joined, line_places, sequence, self._lines).line_of,
        )


def _place(lines: FastqLines, line: int) -> int:
    """Where a line begins, or the text behind the last complete line."""
    return int(lines.starts[line]) if line < lines.count else lines.tail


def _shape(lines: FastqLines, line: int) -> _Shape:
    """Measure the record whose header is at `line`."""
    plus = next_place(lines.plus_lines, line + 1, lines.count)
    if next_place(lines.at_lines, line + 1, lines.count) < plus:
        return _Shape(plus, None, 0, _NO_PLUS)
    letters = int(lines.totals[plus] - lines.totals[line + 1])
    if plus == lines.count:
        return _Shape(plus, None, letters)
    all_values = int(lines.totals[plus + 1]) + letters
    end = int(lines.totals.searchsorted(all_values))
    if end > lines.count:
        return _Shape(plus, None, letters)
    if lines.totals[end] != all_values:
        return _Shape(plus, None, letters, "")
    return _Shape(plus, end, letters)


def _next_head(lines: FastqLines, line: int) -> int | None:
    """Return the first line from `line` on that begins a record, whole or not; None if none surely does.

    Its lines of sequence must be such lines, since a quality line can begin with '@', too.
    """
    for at in lines.at_lines[lines.at_lines.searchsorted(line) :].tolist():
        if _looks_like_head(lines, at):
            return int(at)
    return None


def _looks_like_head(lines: FastqLines, at: int) -> bool:
    plus = next_place(lines.plus_lines, at + 1, lines.count)
    if not at + 1 < plus < min(lines.count, next_place(lines.at_lines, at + 1, lines.count)):
        return False
    return lines.is_sequence(at + 1, plus)


def _swallows_a_record(lines: FastqLines, line: int, plus: int, end: int) -> bool:
    """Whether the next record seems to be among the quality lines, because some of them are missing."""
    sequence, quality = lines.lengths[line + 1 : plus], lines.lengths[plus + 1 : end]
    if quality.size < 2:
        return False
    text = lines.text_of(plus + 1, end)
    if (b" " in text or b"\t" in text) and _BLANK_WITHIN.search(text):
        return True  # Quality values have no blanks, but headers do.
    if sequence.tobytes() == quality.tobytes():
        return False
    begin, stop = lines.at_lines.searchsorted([plus + 2, end])
    return any(_looks_like_head(lines, at) for at in lines.at_lines[begin:stop].tolist())


@dataclass(frozen=True)
class _LinesOfLetters:
    """Finds the lines of a buffer's letters. line_places: where the lines `sequence` begin in `joined`."""

    joined: bytes
    line_places: IntArray
    sequence: IntArray
    lines: int

    def line_of(self, letter: int) -> int:
        """See `ScanBatch.line_of`."""
        number = int(self.line_places.searchsorted(self._places[letter], side="right")) - 1
        return self.lines + int(self.sequence[number]) + 1

    @cached_property
    def _places(self) -> IntArray:
        return np.flatnonzero(~is_white_space(np.frombuffer(self.joined, np.uint8)))
