"""Reads an input once: assembles its records, however long they are, and gives each its reason.

Preparation and inspection both use it, so the user sees before a run what the run will do.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, translate
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.composition import (
    AMBIGUOUS,
    FOREIGN,
    GAP,
    INVALID,
    LETTER_FLAGS,
    LOWER_CASE,
    Composition,
    Found,
    are_proteins,
    are_rna,
)
from virnucpro_backend.prepare.records.headers import Headers
from virnucpro_backend.prepare.records.problems import MAX_PLACES_OF_DAMAGE, Example, ProblemLog
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.scanning.batch import ScanBatch, Stretch, size_text
from virnucpro_backend.prepare.scanning.invisible_marks import InvisibleMarks
from virnucpro_backend.prepare.scanning.scanner import Repair, new_scanner, scan
from virnucpro_backend.prepare.scanning.sniff import SequenceFormat, sniff_format
from virnucpro_backend.problem_codes import ProblemCode

SPOOL_BYTES = 4 << 20


class InMemory:
    """Letters in an array, uint8 [n], ASCII. readable: how many are readable from the first on, here all."""

    def __init__(self, letters: ByteArray) -> None:
        self._letters = letters
        self.readable = letters.size

    def read(self, begin: int, end: int) -> ByteArray:
        """Return the letters begin..end-1."""
        return self._letters[begin:end]


class Spool:
    """A growing sequence of letters, in memory up to SPOOL_BYTES.

    The rest of a longer one goes to a temporary file in `folder`, or is dropped if that is None.
    """

    def __init__(self, folder: Path | None) -> None:
        place = None if folder is None else str(folder)
        self._drops = folder is None
        # Unnamed: it is deleted with its last reference, at the latest with the process.
        self._file = tempfile.SpooledTemporaryFile(SPOOL_BYTES, dir=place, suffix=".tmp")  # noqa: SIM115
        self.size = self.readable = 0

    def append(self, letters: ByteArray) -> None:
        """Add letters; only before the first `read`."""
        self.size += letters.size
        if self._drops:
            letters = letters[: max(0, SPOOL_BYTES - self.readable)]
        self._file.write(letters.data)
        self.readable += letters.size

    def read(self, begin: int, end: int) -> ByteArray:
        """Return the letters begin..end-1, of which `readable` can be read."""
        self._file.seek(begin)
        return np.frombuffer(self._file.read(end - begin), np.uint8)


Letters = InMemory | Spool


@dataclass(frozen=True)
class RecordGroup:
    """Complete records in order; all arrays [k].

    headers, header_counts, byte_offsets: as in ScanBatch. lengths: bases. found: what they hold. malformed:
    the fault, by place in the group; wrong_letters: the first wrong letter, for the first few that have one.
    letters: those of all records, end to end.
    """

    headers: bytes
    header_counts: IntArray
    byte_offsets: IntArray
    lengths: IntArray
    found: Found
    malformed: dict[int, str]
    wrong_letters: dict[int, str]
    letters: Letters


class RecordAssembler:
    """Joins the pieces of records; spool_folder: see Spool."""

    def __init__(self, composition: Composition, spool_folder: Path | None) -> None:
        self._composition = composition
        self._spool_folder = spool_folder
        self._open: _OpenRecord | None = None
        self._begun = 0

    def add(self, batch: ScanBatch) -> Iterator[RecordGroup]:
        """Add a batch; yield the records that it completes."""
        edges = np.concatenate([[0], batch.begins, [batch.letters.size]]).astype(np.int64)
        found = self._composition.add(batch.letters, edges[:-1])
        malformed = {number - self._begun: problem for number, problem in batch.malformed.items()}
        if self._open is not None:
            self._open.extend(batch, 0, int(edges[1]), _part(found, slice(0, 1)), malformed.pop(-1, None))
        if batch.begins.size == 0:
            return
        if self._open is not None:
            yield self._open.group()
        last = batch.begins.size - 1
        last_problem = malformed.pop(last, None)
        header_edge = len(batch.headers) - int(batch.header_counts[last])
        if last > 0:
            yield RecordGroup(
                batch.headers[:header_edge],
                batch.header_counts[:-1],
                batch.byte_offsets[:-1],
                np.diff(edges[1:-1]),
                _part(found, slice(1, -1)),
                malformed,
                _wrong_letters(batch, edges[1:-1], found.flags[1:-1]),
                InMemory(batch.letters[edges[1] : edges[last + 1]]),
            )
        spool = Spool(self._spool_folder)
        self._open = _OpenRecord(batch.headers[header_edge:], int(batch.byte_offsets[-1]), spool)
        self._open.extend(
            batch, int(edges[last + 1]), batch.letters.size, _part(found, slice(-1, None)), last_problem
        )
        self._begun += batch.begins.size

    def finish(self) -> Iterator[RecordGroup]:
        """Yield the last record, if there is one."""
        if self._open is not None:
            yield self._open.group()
            self._open = None


@dataclass
class _OpenRecord:
    header: bytes
    byte_offset: int
    letters: Spool
    found: Found = field(default_factory=lambda: Found(np.zeros(1, np.uint8), *np.zeros((2, 1), np.int64)))
    malformed: str | None = None
    wrong_letters: dict[int, str] = field(default_factory=dict)

    def extend(self, batch: ScanBatch, begin: int, end: int, found: Found, problem: str | None) -> None:
        if not self.wrong_letters:
            self.wrong_letters = _wrong_letters(batch, np.array([begin, end]), found.flags, self.letters.size)
        self.letters.append(batch.letters[begin:end])
        self.found = Found(
            self.found.flags | found.flags,
            self.found.protein_only + found.protein_only,
            self.found.uracil + found.uracil,
        )
        self.malformed = problem or self.malformed

    def group(self) -> RecordGroup:
        return RecordGroup(
            self.header,
            np.array([len(self.header)]),
            np.array([self.byte_offset]),
            np.array([self.letters.size]),
            self.found,
            {} if self.malformed is None else {0: self.malformed},
            self.wrong_letters,
            self.letters,
        )


def _part(found: Found, place: slice) -> Found:
    return Found(found.flags[place], found.protein_only[place], found.uracil[place])


def _wrong_letters(
    batch: ScanBatch, edges: IntArray, flags: npt.NDArray[np.integer[Any]], before: int = 0
) -> dict[int, str]:
    """Name the first letter that no sequence has and its line, for the first few segments that have one.

    edges: int64 [k + 1], where the segments begin in the batch, and the end of the last. before: letters of
    the first segment in earlier batches.
    """
    described = {}
    for place in np.flatnonzero(flags & (INVALID | FOREIGN))[:MAX_PLACES_OF_DAMAGE].tolist():
        begin, end = int(edges[place]), int(edges[place + 1])
        wrong = begin + int(
            np.argmax(translate(batch.letters[begin:end], LETTER_FLAGS) & (INVALID | FOREIGN) != 0)
        )
        sign = _named(batch.letters[wrong : wrong + 4].tobytes())
        letter = wrong - begin + (before if place == 0 else 0) + 1
        described[place] = f"{sign} in line {batch.line_of(wrong):,}, at letter {letter:,}"
    return described


def _named(text: bytes) -> str:
    """Name the first character of a text in UTF-8, or its first byte."""
    for size in range(1, len(text) + 1):
        try:
            character = text[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return f"'{character}'" if character.isprintable() and size == 1 else f"U+{ord(character):04X}"
    return f"byte 0x{text[0]:02x}"


SHARES = ("used", "damaged", "left_out", "passed_over")
_USED, _DAMAGED, _LEFT_OUT = range(3)
_SHARE_OF_REASON = np.zeros(len(Reason), np.uint8)
_SHARE_OF_REASON[[Reason.INVALID_CHARACTERS, Reason.MALFORMED_RECORD]] = _DAMAGED
_SHARE_OF_REASON[[Reason.EMPTY, Reason.BELOW_MIN_LENGTH]] = _LEFT_OUT


@dataclass(frozen=True)
class SurveyedGroup:
    """A group of complete records. reason: uint8 [k], see Reason."""

    records: RecordGroup
    headers: Headers
    reason: ByteArray


class Survey:
    """Reads one input.

    spool_folder: see Spool; first_row: row of the input's first record; min_length: bases of the
    shortest sequence that is not left out.
    """

    def __init__(
        self,
        spool_folder: Path | None,
        first_row: int = 0,
        repairs: Collection[Repair] = (),
        min_length: int = 1,
    ) -> None:
        self._repairs = repairs
        self._min_length = min_length
        self._spool_folder = spool_folder
        self._first_row = first_row
        self.composition = Composition()
        self.problems = ProblemLog()
        self.records = 0
        self.format: SequenceFormat | None = None
        self.bytes = dict.fromkeys(SHARES, 0)
        """The bytes of the decompressed stream; blank lines and comments belong to the record before them."""
        self._size = 0
        self._last_begin = 0
        self._last_share = _LEFT_OUT
        self._stretches: list[Stretch] = []
        self._kinds: Counter[str] = Counter()  # Records with letters, and how many of them are of what kind.

    def groups(self, source: InputFile) -> Iterator[SurveyedGroup]:
        """Yield all records in order. Raises PrepareError; the groups before it are valid."""
        blocks = self._counted(source.blocks())
        beginning = next(blocks, b"")
        self.format = sniff_format(source, beginning)
        assembler = RecordAssembler(self.composition, self._spool_folder)
        marks = InvisibleMarks()
        for batch in scan(chain([beginning], blocks), new_scanner(self.format), self._repairs, marks):
            self.problems.add("comment_lines", batch.comment_lines)
            self._stretches += batch.passed_over
            for group in assembler.add(batch):
                yield self._survey(group)
        for group in assembler.finish():
            yield self._survey(group)
        self._account(np.array([self._size]), np.array([self._last_share], np.uint8))
        self.problems.add("invisible_marks", marks.count)
        if self.records == 0:
            self.problems.add("no_sequences")
        self.problems.add("no_end_block", int(source.lacks_end_block))
        self._judge_file()

    def _counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self._size += len(block)
            yield block

    def _judge_file(self) -> None:
        """Refuse a file of numbers, or one of which most sequences are proteins or RNA."""
        with_letters = self._kinds["with letters"]
        if self.composition.looks_like_numbers:
            self.problems.add("looks_like_numbers")
        if 2 * self._kinds["protein"] > with_letters:
            self.problems.replace("protein_records", "looks_like_protein")
        if 2 * self._kinds["rna"] > with_letters:
            self.problems.replace("rna_records", "looks_like_rna")

    def _survey(self, group: RecordGroup) -> SurveyedGroup:
        headers = Headers.read(group.headers, group.header_counts, self.records)
        flags = group.found.flags
        too_short = group.lengths < self._min_length
        proteins = are_proteins(group.lengths, group.found.protein_only) & ~too_short
        reason = np.zeros(group.lengths.size, np.uint8)
        reason[too_short] = Reason.BELOW_MIN_LENGTH
        reason[group.lengths == 0] = Reason.EMPTY
        reason[(flags & INVALID != 0) | proteins] = Reason.INVALID_CHARACTERS
        reason[flags & FOREIGN != 0] = Reason.MALFORMED_RECORD
        reason[list(group.malformed)] = Reason.MALFORMED_RECORD
        surveyed = SurveyedGroup(group, headers, reason)
        self._kinds["with letters"] += int(np.count_nonzero(~too_short))
        if reason.any() or flags.any():
            self._name_problems(surveyed, proteins)
        shares = _SHARE_OF_REASON[reason]
        shares[proteins & (reason == Reason.INVALID_CHARACTERS)] = _LEFT_OUT
        self._account(group.byte_offsets, shares)
        self.records += reason.size
        return surveyed

    def _account(self, begins: IntArray, shares: ByteArray) -> None:
        """Account for the bytes before each of the next records, whose own bytes count to these shares."""
        # What stands before the first record belongs to it.
        owners = np.concatenate([[self._last_share] if self.records else shares[:1], shares])
        sizes = np.diff(begins, prepend=self._last_begin)
        for number, name in enumerate(SHARES):
            self.bytes[name] += int(sizes[owners[:-1] == number].sum())
        first = self.records
        while self._stretches and self._stretches[0].after <= first + shares.size:
            stretch = self._stretches.pop(0)
            self.bytes[SHARES[int(owners[stretch.after - first])]] -= stretch.bytes
            self.bytes["passed_over"] += stretch.bytes
            self._name_stretch(stretch)
        self._last_begin, self._last_share = int(begins[-1]), int(owners[-1])

    def _name_stretch(self, stretch: Stretch) -> None:
        self.problems.add("passed_over", stretch.lines)
        if self.problems.wants_example("passed_over"):
            detail = size_text(stretch.lines, stretch.bytes)
            example = Example(self._first_row + stretch.after, f"line {stretch.first_line:,}", detail)
            self.problems.add_example("passed_over", example)

    def _name_problems(self, group: SurveyedGroup, proteins: npt.NDArray[np.bool_]) -> None:
        records, reason = group.records, group.reason
        flags = records.found.flags
        scorable = reason == Reason.OK
        rna = scorable & are_rna(records.lengths, records.found.uracil)
        self._kinds["protein"] += int(np.count_nonzero(proteins))
        self._kinds["rna"] += int(np.count_nonzero(rna))
        wrong = {**records.wrong_letters, **records.malformed}
        invalid = (reason == Reason.INVALID_CHARACTERS) & ~proteins
        self._add("empty", reason == Reason.EMPTY, group, {})
        self._add("below_min_length", reason == Reason.BELOW_MIN_LENGTH, group, {})
        self._add("invalid_characters", invalid, group, wrong)
        self._add("malformed_record", reason == Reason.MALFORMED_RECORD, group, wrong)
        self._add("protein_records", proteins & (reason == Reason.INVALID_CHARACTERS), group, {})
        self._add("rna_records", rna, group, {})
        self._add("ambiguous_bases", scorable & ~rna & (flags & AMBIGUOUS != 0), group, {})
        self._add("gaps", scorable & (flags & GAP != 0), group, {})
        self._add("lower_case", scorable & (flags & LOWER_CASE != 0), group, {})

    def _add(
        self,
        code: ProblemCode,
        affected: npt.NDArray[np.bool_],
        group: SurveyedGroup,
        details: dict[int, str],
    ) -> None:
        places = np.flatnonzero(affected)
        self.problems.add(code, places.size)
        for place in places.tolist():
            if not self.problems.wants_example(code):
                break
            row = self._first_row + self.records + place
            detail = details.get(place, f"{int(group.records.lengths[place]):,} letters")
            self.problems.add_example(code, Example(row, group.headers.name(place), detail))
