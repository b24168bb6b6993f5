"""Where the reading of a run's inputs can go on after it was cut off, instead of beginning again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import msgspec

from virnucpro_backend.prepare.parts import Cut
from virnucpro_backend.prepare.records.problems import Example, Problem
from virnucpro_backend.prepare.records.record_files import Reason, RecordFile, is_whole
from virnucpro_backend.prepare.records.survey import Boundary
from virnucpro_backend.typed_commands import Count, Sha256


class _Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class PlaceExample(_Fields, frozen=True):
    """See Example."""

    row: Count
    name: str
    detail: str


class PlaceProblem(_Fields, frozen=True):
    """See Problem."""

    code: str
    count: Count
    examples: tuple[PlaceExample, ...]

    def found(self) -> Problem:
        """As what had been found."""
        return Problem(
            self.code,
            self.count,
            [Example(example.row, example.name, example.detail) for example in self.examples],
        )


class Place(_Fields, frozen=True):
    """The beginning of a record, with what had been counted before it; small, whatever has been read.

    The records from here on are read again. Of them, those before `records_row` stand in a file already, and
    so do the frames before chunk `part_chunk` of `part_row` in a part.
    """

    input: Count
    format: Literal["fasta", "fastq"] | None
    """None at the beginning of an input."""
    byte_offset: Count
    """In the decompressed stream."""
    row: Count
    first_rows: tuple[Count, ...]
    """Of the job's inputs up to this one."""
    problems: tuple[PlaceProblem, ...]
    """Of this input, as are the next two."""
    input_bases: Count
    other_letters: tuple[tuple[Count, Count], ...]
    """Letters that are not an upper-case A, C, G or T: byte and how often."""
    bases: Count
    """Of the run, as are the next four."""
    chunks: Count
    frames: Count
    residues: Count
    reasons: dict[str, Count]
    parts: Count
    part_row: Count
    part_chunk: Count
    record_files: Count
    records_row: Count

    def boundary(self) -> Boundary:
        """The same as what its input is read on from."""
        return Boundary(
            self.format,
            self.byte_offset,
            self.row - self.first_rows[-1],
            tuple(problem.found() for problem in self.problems),
            self.input_bases,
            self.other_letters,
        )


@dataclass(frozen=True)
class Passed:
    """A boundary of an input, and what of the run had been counted before it."""

    boundary: Boundary
    input: int
    row: int
    bases: int
    chunks: int
    frames: int
    residues: int
    reasons: dict[int, int]

    def place(
        self, first_rows: tuple[int, ...], cut: Cut, record_files: int, records_row: int
    ) -> dict[str, object]:
        """The fields of the place, once all before it is on disk."""
        boundary = self.boundary
        place = Place(
            input=self.input,
            format=boundary.format,
            byte_offset=boundary.byte_offset,
            row=self.row,
            first_rows=first_rows,
            problems=tuple(
                PlaceProblem(
                    problem.code,
                    problem.count,
                    tuple(PlaceExample(each.row, each.name, each.detail) for each in problem.examples),
                )
                for problem in boundary.problems
            ),
            input_bases=boundary.bases,
            other_letters=boundary.other_letters,
            bases=self.bases,
            chunks=self.chunks,
            frames=self.frames,
            residues=self.residues,
            reasons={Reason(value).name.lower(): count for value, count in sorted(self.reasons.items())},
            parts=cut.parts,
            part_row=cut.row,
            part_chunk=cut.chunk,
            record_files=record_files,
            records_row=records_row,
        )
        return cast(dict[str, object], msgspec.to_builtins(place))


class KnownRecords(_Fields, frozen=True):
    """A file of records, as it was announced."""

    path: str
    sha256: Sha256
    first_row: Count
    count: Count

    def file(self) -> RecordFile:
        """The same, as the writer of such files has it."""
        return RecordFile(self.path, self.sha256, self.first_row, self.count)


class GoOn(_Fields, frozen=True):
    """A place, and the files of the records before it."""

    place: Place
    record_files: tuple[KnownRecords, ...]

    def is_usable(self, work_dir: Path, inputs: tuple[int, ...]) -> bool:
        """Whether everything before the place is still there. `inputs`: numbers of the job's inputs."""
        place, files = self.place, [known.file() for known in self.record_files]
        ends = [file.first_row + file.count for file in files]
        return (
            place.input in inputs
            and len(place.first_rows) == inputs.index(place.input) + 1
            and place.first_rows[-1] <= place.row <= min(place.records_row, place.part_row)
            and len(files) == place.record_files
            and [0, *ends] == [*(file.first_row for file in files), place.records_row]
            and all(is_whole(work_dir, number, file) for number, file in enumerate(files))
        )
