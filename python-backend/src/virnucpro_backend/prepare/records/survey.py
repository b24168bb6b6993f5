"""Reads an input once: assembles its records, however long they are, and gives each its reason.

Preparation and inspection both use it, so the user sees before a run what the run will do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of, translate
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.composition import (
    AMBIGUOUS,
    INVALID,
    LETTER_FLAGS,
    LOWER_CASE,
    Composition,
)
from virnucpro_backend.prepare.records.headers import as_utf8, identifier
from virnucpro_backend.prepare.records.problems import Example, ProblemLog
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.scanning.scanner import Repair, new_scanner, scan
from virnucpro_backend.prepare.scanning.sniff import SequenceFormat, sniff_format

# A growing record stays in memory up to this length; a longer one goes to a temporary file.
SPOOL_BYTES = 4 << 20
# How much is kept for inspection of a record whose letters are dropped.
KEPT_BYTES = 128 << 10

_MAX_DESCRIBED = 5


class Letters(Protocol):
    """Letters that may be in memory or on disk."""

    @property
    def readable(self) -> int:
        """How many letters are readable from the first on; not all if letters were dropped."""

    def read(self, begin: int, end: int) -> ByteArray:
        """Return the letters begin..end-1."""


@dataclass(frozen=True)
class RecordGroup:
    """Complete records in order; all arrays [k].

    headers, header_counts, byte_offsets: as in ScanBatch. lengths: bases. flags: see Composition.
    malformed: the fault, by place in the group; invalid: the same, for the first few. letters: those of all
    records, end to end.
    """

    headers: bytes
    header_counts: IntArray
    byte_offsets: IntArray
    lengths: IntArray
    flags: ByteArray
    malformed: dict[int, str]
    invalid: dict[int, str]
    letters: Letters


class RecordAssembler:
    """Joins the pieces of records.

    `spool_folder` receives the letters of records longer than SPOOL_BYTES; None drops letters beyond the
    first KEPT_BYTES of a record that extends beyond its block.
    """

    def __init__(self, composition: Composition, spool_folder: Path | None) -> None:
        self._composition = composition
        self._spool_folder = spool_folder
        self._open: _OpenRecord | None = None
        self._begun = 0

    def add(self, batch: ScanBatch) -> Iterator[RecordGroup]:
        """Add a batch; yield the records that it completes."""
        edges = np.concatenate([[0], batch.begins, [batch.letters.size]]).astype(np.int64)
        flags = self._composition.add(batch.letters, edges[:-1])
        malformed = {number - self._begun: problem for number, problem in batch.malformed.items()}
        if self._open is not None:
            self._open.extend(batch.letters[: edges[1]], int(flags[0]), malformed.pop(-1, None))
        if batch.begins.size == 0:
            return
        if self._open is not None:
            yield self._open.group()
        last = batch.begins.size - 1
        last_problem = malformed.pop(last, None)
        header_edge = len(batch.headers) - int(batch.header_counts[last])
        if last > 0:
            letters = batch.letters[edges[1] : edges[last + 1]]
            yield RecordGroup(
                batch.headers[:header_edge],
                batch.header_counts[:-1],
                batch.byte_offsets[:-1],
                np.diff(edges[1:-1]),
                flags[1:-1],
                malformed,
                _describe_invalid(letters, edges[1:-1] - edges[1], flags[1:-1]),
                _InMemory(letters),
            )
        spool = _Spool(self._spool_folder)
        self._open = _OpenRecord(batch.headers[header_edge:], int(batch.byte_offsets[-1]), spool)
        self._open.extend(batch.letters[edges[last + 1] :], int(flags[-1]), last_problem)
        self._begun += batch.begins.size

    def finish(self) -> Iterator[RecordGroup]:
        """Yield the last record, if there is one."""
        if self._open is not None:
            yield self._open.group()
            self._open = None


class _InMemory:
    def __init__(self, letters: ByteArray) -> None:
        self._letters = letters

    @property
    def readable(self) -> int:
        return self._letters.size

    def read(self, begin: int, end: int) -> ByteArray:
        return self._letters[begin:end]


class _Spool:
    """A growing sequence of letters: first in memory, and in an unnamed temporary file once it is long."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._pieces: list[ByteArray] = []
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self.size = 0
        self.readable = 0

    def append(self, letters: ByteArray) -> None:
        self.size += letters.size
        if self._folder is None:
            letters = letters[: max(0, KEPT_BYTES - self._in_memory)]
            self.readable += letters.size
            self._in_memory += letters.size
            if letters.size:
                self._pieces.append(letters.copy())
            return
        self.readable = self.size
        self._pieces.append(letters)
        self._in_memory += letters.size
        if self._in_memory > SPOOL_BYTES:
            if self._file is None:
                # Unnamed: it is deleted with its last reference, at the latest with the process.
                self._file = tempfile.TemporaryFile(dir=self._folder, suffix=".tmp")  # noqa: SIM115
            for piece in self._pieces:
                self._file.write(piece.data)
            self._pieces, self._in_memory = [], 0

    def read(self, begin: int, end: int) -> ByteArray:
        on_disk = self.readable - self._in_memory
        if end <= on_disk and self._file is not None:
            self._file.seek(begin)
            return np.frombuffer(self._file.read(end - begin), np.uint8)
        if begin < on_disk:
            return np.concatenate([self.read(begin, on_disk), self.read(on_disk, end)])
        if len(self._pieces) != 1:
            self._pieces = [np.concatenate([np.zeros(0, np.uint8), *self._pieces])]
        return self._pieces[0][begin - on_disk : end - on_disk]


@dataclass
class _OpenRecord:
    header: bytes
    byte_offset: int
    letters: _Spool
    flags: int = 0
    malformed: str | None = None
    invalid: dict[int, str] = field(default_factory=dict)

    def extend(self, letters: ByteArray, flags: int, problem: str | None) -> None:
        if flags & INVALID and not self.invalid:
            self.invalid = _describe_invalid(
                letters, np.zeros(1, np.int64), np.array([flags]), self.letters.size
            )
        self.letters.append(letters)
        self.flags |= flags
        self.malformed = problem or self.malformed

    def group(self) -> RecordGroup:
        return RecordGroup(
            self.header,
            np.array([len(self.header)]),
            np.array([self.byte_offset]),
            np.array([self.letters.size]),
            np.array([self.flags], np.uint8),
            {} if self.malformed is None else {0: self.malformed},
            self.invalid,
            self.letters,
        )


def _describe_invalid(
    letters: ByteArray, begins: IntArray, flags: npt.NDArray[np.integer[Any]], before: int = 0
) -> dict[int, str]:
    """Name the wrong byte and its position, for the first few segments; `before`: preceding letters."""
    described = {}
    for place in np.flatnonzero(flags & INVALID)[:_MAX_DESCRIBED].tolist():
        begin = int(begins[place])
        tail = letters[begin : int(begins[place + 1]) if place + 1 < begins.size else letters.size]
        wrong = int(np.argmax(translate(tail, LETTER_FLAGS) & INVALID))
        described[place] = f"byte 0x{int(tail[wrong]):02x} at letter {before + wrong + 1:,}"
    return described


_UNNAMED = "(no name)"


@dataclass(frozen=True)
class SurveyedGroup:
    """A group of complete records. reason: uint8 [k], see Reason; headers are UTF-8."""

    records: RecordGroup
    headers: bytes
    header_counts: IntArray
    reason: ByteArray


class Survey:
    """Reads one input. `spool_folder`: see RecordAssembler; `first_row`: row of the input's first record."""

    def __init__(
        self,
        source: InputFile,
        spool_folder: Path | None,
        first_row: int = 0,
        repairs: Collection[Repair] = (),
    ) -> None:
        self._source = source
        self._repairs = repairs
        self._spool_folder = spool_folder
        self._first_row = first_row
        self.composition = Composition()
        self.problems = ProblemLog()
        self.records = 0
        self.format: SequenceFormat | None = None

    def groups(self) -> Iterator[SurveyedGroup]:
        """Yield all records in order. Raises PrepareError; the groups before it are valid."""
        blocks = self._source.blocks()
        beginning = next(blocks, b"")
        self.format = sniff_format(self._source, beginning)
        assembler = RecordAssembler(self.composition, self._spool_folder)
        for batch in scan(chain([beginning], blocks), new_scanner(self.format), self._repairs):
            self.problems.add("comment_lines", batch.comment_lines)
            for group in assembler.add(batch):
                yield self._survey(group)
        for group in assembler.finish():
            yield self._survey(group)
        if self.records == 0:
            self.problems.add("no_sequences")
        if self.composition.looks_like_protein:
            self.problems.add("looks_like_protein")
        if self.composition.looks_like_rna:
            self.problems.add("looks_like_rna")
        if self.composition.looks_like_alignment:
            self.problems.add("looks_like_alignment")

    def _survey(self, group: RecordGroup) -> SurveyedGroup:
        headers, header_counts = as_utf8(group.headers, group.header_counts)
        reason = np.zeros(group.lengths.size, np.uint8)
        reason[group.lengths == 0] = Reason.EMPTY
        reason[group.flags & INVALID != 0] = Reason.INVALID_CHARACTERS
        reason[list(group.malformed)] = Reason.MALFORMED_RECORD
        surveyed = SurveyedGroup(group, headers, header_counts, reason)
        if reason.any() or group.flags.any():
            self._name_problems(surveyed)
        self.records += reason.size
        return surveyed

    def _name_problems(self, group: SurveyedGroup) -> None:
        records, reason = group.records, group.reason
        scorable = reason == Reason.OK
        self._add("empty", reason == Reason.EMPTY, group, {})
        self._add("invalid_characters", reason == Reason.INVALID_CHARACTERS, group, records.invalid)
        self._add("malformed_record", reason == Reason.MALFORMED_RECORD, group, records.malformed)
        self._add("ambiguous_bases", scorable & (records.flags & AMBIGUOUS != 0), group, {})
        self._add("lower_case", scorable & (records.flags & LOWER_CASE != 0), group, {})

    def _add(
        self, code: str, affected: npt.NDArray[np.bool_], group: SurveyedGroup, details: dict[int, str]
    ) -> None:
        places = np.flatnonzero(affected)
        self.problems.add(code, places.size)
        for place in places.tolist():
            if not self.problems.wants_example(code):
                break
            offsets = offsets_of(group.header_counts)
            header = group.headers[int(offsets[place]) : int(offsets[place + 1])].decode("utf-8")
            row = self._first_row + self.records + place
            detail = details.get(place, f"{int(group.records.lengths[place]):,} letters")
            self.problems.add_example(code, Example(row, identifier(header) or _UNNAMED, detail))
