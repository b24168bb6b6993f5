"""Scans FASTQ block by block: four-line records with arrays, wrapped ones and damage line by line.

An incomplete record is reported; reading continues at the next line that begins a record.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray, offsets_of, ragged_indices
from virnucpro_backend.prepare.scanning.batch import (
    EMPTY_BATCH,
    MAX_HEADER_BYTES,
    ScanBatch,
    without_white_space,
)
from virnucpro_backend.prepare.scanning.fastq_lines import FastqLines, next_place, split_lines

# No read is this long. A longer record, or one with more lines, is reported, not kept in memory.
MAX_RECORD_BYTES = 32 << 20
MAX_RECORD_LINES = 100_000


@dataclass
class _Found:
    """Records in buffer order: header line, first sequence line and number of sequence lines."""

    header: list[IntArray] = field(default_factory=list)
    sequence_line: list[IntArray] = field(default_factory=list)
    sequence_lines: list[IntArray] = field(default_factory=list)
    malformed: dict[int, str] = field(default_factory=dict)
    count: int = 0

    def add_rows_of_four(self, begin: int, end: int) -> None:
        header = np.arange(begin, end, 4)
        self._add(header, header + 1, np.ones_like(header))

    def add_wrapped(self, header: int, sequence_lines: int) -> None:
        self._add(np.array([header]), np.array([header + 1]), np.array([sequence_lines]))

    def add_malformed(self, header: int, problem: str) -> None:
        self.malformed[self.count] = problem
        self._add(np.array([header]), np.array([header]), np.array([0]))

    def _add(self, header: IntArray, sequence_line: IntArray, sequence_lines: IntArray) -> None:
        self.header.append(header)
        self.sequence_line.append(sequence_line)
        self.sequence_lines.append(sequence_lines)
        self.count += header.size


class FastqScanner:
    """Keeps between blocks the bytes of an unfinished record, and whether we are inside damage."""

    def __init__(self) -> None:
        self._carried = b""
        self._offset = 0  # Offset of the carried bytes in the stream.
        self._records = 0
        self._inside_damage = False
        self._inside_dropped_line = False  # The carried bytes continue a line that was too long to keep.

    def feed(self, block: bytes) -> ScanBatch:
        """See `Scanner.feed`."""
        return self._scan(self._carried + block, final=False)

    def finish(self) -> ScanBatch:
        """See `Scanner.finish`."""
        return self._scan(self._carried, final=True) if self._carried else EMPTY_BATCH

    def _scan(self, buffer: bytes, *, final: bool) -> ScanBatch:
        lines = split_lines(buffer, final=final)
        found = _Found()
        line = 0
        if self._inside_dropped_line and lines.count:
            line, self._inside_dropped_line = 1, False
        line = self._find_records(lines, found, line, len(buffer), final=final)
        batch = self._batch(buffer, lines, found)

        keep_from = int(lines.starts[line]) if line < lines.count else lines.tail
        if self._inside_dropped_line or len(buffer) - keep_from > MAX_RECORD_BYTES:
            self._inside_dropped_line = lines.tail < len(buffer)
            keep_from = len(buffer)
        self._carried = buffer[keep_from:]
        self._offset += keep_from
        self._records += found.count
        return batch

    def _find_records(self, lines: FastqLines, found: _Found, line: int, size: int, *, final: bool) -> int:
        """Walk over the lines of a buffer of `size` bytes; return the first that must wait for more."""
        while line < lines.count:
            if lines.is_record[line]:
                end = lines.end_of_records(line)
                found.add_rows_of_four(line, end)
                line, self._inside_damage = end, False
            elif self._inside_damage:
                head = next_place(lines.heads, line, lines.count)
                if head == lines.count:
                    # The last three lines may still begin a record.
                    return lines.count if final else max(line, lines.count - 3)
                line, self._inside_damage = head, False
            elif (written := next_place(lines.written_lines, line, lines.count)) > line:
                line = written
            else:
                may_wait = (
                    not final
                    and size - lines.starts[line] <= MAX_RECORD_BYTES
                    and lines.count - line <= MAX_RECORD_LINES
                )
                step = self._odd_record(lines, found, line, may_wait=may_wait)
                if step == 0:
                    return line
                line += step
        return line

    def _odd_record(self, lines: FastqLines, found: _Found, line: int, *, may_wait: bool) -> int:
        """Return how many lines a record without four matching lines takes, 0 if that is not known yet."""
        begins_well = bool(lines.first[line] == ord("@"))
        plus = next_place(lines.plus_lines, line + 1, lines.count)
        sequence_lines = plus - line - 1
        end = plus + 1 + sequence_lines
        # Within a record, a quality line may begin with '@', but a sequence line may not.
        in_order = begins_well and plus <= next_place(lines.at_lines, line + 1, lines.count)
        fits_so_far = in_order and (plus == lines.count or (sequence_lines >= 2 and end > lines.count))
        is_cut = begins_well and (fits_so_far or lines.count - line < 4)
        if is_cut and may_wait:
            return 0
        if in_order and not is_cut and sequence_lines >= 2:
            letters, values = lines.lengths[line + 1 : plus].sum(), lines.lengths[plus + 1 : end].sum()
            if letters == values:
                found.add_wrapped(line, sequence_lines)
                return end - line
        if not begins_well:
            problem = "a line that should begin with '@' doesn't"
        elif is_cut:
            problem = "the file ends inside the record, or the record is too long"
        elif plus == line + 2:
            letters, values = int(lines.lengths[line + 1]), int(lines.lengths[line + 3])
            problem = f"{letters:,} letters but {values:,} quality values"
        else:
            problem = "the lines of sequence, '+' and quality don't fit together"
        found.add_malformed(line, problem)
        self._inside_damage = True
        return 1

    def _batch(self, buffer: bytes, lines: FastqLines, found: _Found) -> ScanBatch:
        if found.count == 0:
            return EMPTY_BATCH
        header = np.concatenate(found.header)
        counts = np.concatenate(found.sequence_lines)
        sequence = ragged_indices(np.concatenate(found.sequence_line), counts)
        joined = _join(buffer, lines.starts[sequence], lines.ends[sequence])
        places = offsets_of(lines.ends[sequence] - lines.starts[sequence])[offsets_of(counts)[:-1]]
        letters, begins = without_white_space(joined, places)

        malformed = {self._records + number: problem for number, problem in found.malformed.items()}
        text_begin = lines.starts[header] + (lines.first[header] == ord("@"))
        text_end = np.minimum(lines.ends[header], text_begin + MAX_HEADER_BYTES)
        for number in np.flatnonzero(text_end < lines.ends[header]).tolist():
            malformed[self._records + number] = f"header line longer than {MAX_HEADER_BYTES:,} bytes"
        return ScanBatch(
            letters,
            begins,
            lines.starts[header] + self._offset,
            _join(buffer, text_begin, text_end),
            text_end - text_begin,
            malformed,
        )


def _join(buffer: bytes, begins: IntArray, ends: IntArray) -> bytes:
    return b"".join(map(buffer.__getitem__, map(slice, begins.tolist(), ends.tolist())))
