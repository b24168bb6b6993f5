"""Reads an input once, and yields its records in groups, each with its reason, and their problems.

Preparation and inspection both use it, so the user sees before a run what the run will do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.assembly import RecordAssembler, RecordGroup
from virnucpro_backend.prepare.records.composition import AMBIGUOUS, INVALID, LOWER_CASE, Composition
from virnucpro_backend.prepare.records.headers import as_utf8, identifier
from virnucpro_backend.prepare.records.problems import Example, ProblemLog
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.scanning.scanner import Repair, new_scanner, scan
from virnucpro_backend.prepare.scanning.sniff import SequenceFormat, sniff_format

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
