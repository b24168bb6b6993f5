"""Prepares a run: reads its inputs once, writes records and parts, and reports progress as events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import numpy as np

from virnucpro_backend.prepare.chunking import chunk_counts, chunk_windows, round_ends, rounds_of
from virnucpro_backend.prepare.failures import PrepareError, halves_do_not_fit, writing_failed
from virnucpro_backend.prepare.frames import STANDARD, GeneticCode, open_frames
from virnucpro_backend.prepare.genetic_code import NO_HINT, genetic_code_hints
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.parts import FrameBlock, Part, PartWriter
from virnucpro_backend.prepare.records.headers import RepeatedNames
from virnucpro_backend.prepare.records.problems import MAX_EXAMPLES, Example, Problem, ProblemLog
from virnucpro_backend.prepare.records.record_files import Reason, RecordFile, RecordRows, RecordWriter
from virnucpro_backend.prepare.records.survey import Survey, SurveyedGroup
from virnucpro_backend.prepare.scanning.scanner import Repair
from virnucpro_backend.prepare.second_look import frames_of_second_look
from virnucpro_backend.prepare.terminal_repeats import terminal_repeats
from virnucpro_backend.safetensors_file import make_real_folders
from virnucpro_backend.typed_commands import (
    CommandError,
    CommandStruct,
    Count,
    Positive,
    Sha256,
    parse_typed,
)


class JobInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """input: its number in the run; sha256: the required SHA-256 of its bytes, if known.

    `repairs`: see `mended`. begins_parts: no part has frames of this input and of those before it.
    """

    input: Count
    path: Path
    sha256: Sha256 | None
    repairs: tuple[Repair, ...] = ()
    begins_parts: bool = False


class Job(CommandStruct, tag="prepare", frozen=True):
    """work_dir: the run folder's `work`; PartWriter describes the next three fields.

    order_seed: the seed of the rounds; None keeps the order of the files. first_round: the share of every
    sequence that is in the first.
    second_chunk_length: bases of the shorter chunks; see `frames_of_second_look`. min_length: see Survey.
    No sequence gets a hint if `genetic_code` is not the standard one.
    """

    inputs: Annotated[tuple[JobInput, ...], msgspec.Meta(min_length=1)]
    work_dir: Path
    chunk_length: Positive
    residues_per_part: Positive
    tail_parts: Count
    order_seed: Count | None
    second_chunk_length: Positive | None = None
    min_length: Positive = 1
    genetic_code: GeneticCode = STANDARD
    first_round: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1 / 256


def parse_job(command: Mapping[str, object]) -> Job:
    """Parse a command into a job.

    Raises PrepareError `internal_error` if this version does not understand the command.
    """
    try:
        return cast(Job, parse_typed(command, Job))
    except CommandError as error:
        raise halves_do_not_fit(error) from error


_SECONDS_BETWEEN_PROGRESS = 0.25


class Preparation:
    """The state of one job. In `progress`, counts are of the run so far, and bytes of the current input.

    emit: receives each event, its type and its fields; Channel.emit in a prepare process.
    """

    def __init__(self, job: Job, emit: Callable[..., None]) -> None:
        self._job = job
        self._emit = emit
        self._input = -1
        self._bases = self._chunks = self._frames = self._residues = 0
        self._reasons: Counter[int] = Counter()
        self._repeats = RepeatedNames()
        self._next_progress = 0.0
        self._records = RecordWriter(job.work_dir, self._on_record_file)
        self._parts = PartWriter(
            job.work_dir,
            job.chunk_length,
            job.residues_per_part,
            job.tail_parts,
            1 if job.order_seed is None else round_ends(job.first_round).size,
            1 if job.second_chunk_length is None else 2,
            self._on_part,
        )

    @property
    def current_input(self) -> int | None:
        """The input being read, if any."""
        return None if self._input < 0 else self._input

    def run(self) -> None:
        """Run the job. Raises PrepareError; files that were already reported stay valid for the same job."""
        try:
            _clear_leftovers(self._job.work_dir)
            for source in self._job.inputs:
                self._input = source.input
                if source.begins_parts:
                    self._parts.finish()
                self._prepare_input(source)
            self._input = -1
            self._parts.finish()
            self._records.finish()
        except OSError as error:
            raise writing_failed(error) from error
        finally:
            self._parts.close()
        scorable = self._reasons.pop(Reason.OK, 0)
        self._emit(
            "done",
            records=self._records.next_row,
            chunks=self._chunks,
            frames=self._frames,
            residues=self._residues,
            parts=self._parts.parts,
            scorable_records=scorable,
            not_scored={Reason(value).name.lower(): count for value, count in sorted(self._reasons.items())},
        )

    def _prepare_input(self, source: JobInput) -> None:
        first_row = self._records.next_row
        self._repeats = RepeatedNames()
        with InputFile(source.path) as file:
            survey = Survey(self._job.work_dir, first_row, source.repairs, self._job.min_length)
            for group in survey.groups(file):
                self._take(source.input, group)
                if time.monotonic() >= self._next_progress:
                    self._report_progress(file)
            self._report_progress(file)
            sha256 = file.sha256()
        if source.sha256 is not None and sha256 != source.sha256:
            raise PrepareError("input_changed")
        self._add_repeats(survey.problems, first_row)
        for problem in survey.problems.all():
            self._report_problem(source.input, problem)
        self._emit(
            "input_done",
            input=source.input,
            sha256=sha256,
            records=survey.records,
            bases=survey.composition.bases,
            first_row=first_row,
        )

    def _take(self, source: int, group: SurveyedGroup) -> None:
        lengths = group.records.lengths
        first_row = self._records.next_row
        to_chunk = np.where(group.reason == Reason.OK, lengths, 0)
        n_chunks = chunk_counts(to_chunk, self._job.chunk_length)
        n_frames, lost = np.zeros(lengths.size, np.int64), np.zeros((3, lengths.size), np.int64)
        for window in chunk_windows(group.records.letters, lengths, to_chunk, self._job.chunk_length):
            rounds = None
            if self._job.order_seed is not None:
                counts = n_chunks[window.record]
                rounds = rounds_of(
                    first_row + window.record,
                    window.chunk,
                    counts,
                    self._job.order_seed,
                    self._job.first_round,
                )
                by_round = np.argsort(rounds, kind="stable")
                window, rounds = window.reordered(by_round), rounds[by_round]
            place = (window.letters, window.start, window.length, self._job.genetic_code)
            frames = open_frames(*place)
            looks = [frames]
            if self._job.second_chunk_length is not None:
                looks.append(frames_of_second_look(*place, frames, self._job.second_chunk_length))
            for look, found in enumerate(looks):
                record = window.record[found.chunk]
                block = FrameBlock(
                    first_row + record,
                    window.chunk[found.chunk],
                    found.frame,
                    found.residues,
                    found.residue_counts,
                    found.nucleotides,
                    found.nucleotide_counts,
                )
                if rounds is None:
                    self._parts.add(block, look=look)
                else:
                    for number, of_round in block.by_round(rounds[found.chunk]):
                        self._parts.add(of_round, number, look)
                n_frames += np.bincount(record, minlength=lengths.size)
                self._frames += record.size
                self._residues += found.residues.size
            is_lost = np.ones(window.record.size, np.bool_)
            is_lost[frames.chunk] = False
            for count, chunks in zip(lost, (is_lost, frames.lost_to_tag, frames.lost_to_tga), strict=True):
                count += np.bincount(window.record[chunks], minlength=lengths.size)
        self._bases += int(lengths.sum())
        self._chunks += int(n_chunks.sum())
        reasons, counts = np.unique(group.reason, return_counts=True)
        self._reasons.update(dict(zip(reasons.tolist(), counts.tolist(), strict=True)))
        self._repeats.add(group.headers.name_hashes)
        hints = np.full(lengths.size, NO_HINT, np.uint8)
        if self._job.genetic_code == STANDARD:
            hints = genetic_code_hints(group.records.letters, lengths, n_chunks, lost, self._job.chunk_length)
        kinds, repeats = terminal_repeats(group.records.letters, lengths, group.reason == Reason.OK)
        columns = {
            "byte_offset": group.records.byte_offsets,
            "length": lengths,
            "n_chunks": n_chunks,
            "reason": group.reason,
            "n_frames": n_frames,
            "n_lost": lost[0],
            "n_lost_to_tag": lost[1],
            "n_lost_to_tga": lost[2],
            "genetic_code": hints,
            "repeat_kind": kinds,
            "repeat_length": repeats,
        }
        self._records.add(RecordRows(source, group.headers, columns))

    def _report_progress(self, file: InputFile) -> None:
        self._next_progress = time.monotonic() + _SECONDS_BETWEEN_PROGRESS
        self._emit(
            "progress",
            input=self._input,
            bytes_read=file.bytes_read,
            records=self._records.next_row,
            bases=self._bases,
            chunks=self._chunks,
            frames=self._frames,
            parts=self._parts.parts,
        )

    def _report_problem(self, source: int, problem: Problem) -> None:
        self._emit(
            "input_problem",
            input=source,
            code=problem.code,
            values={},
            count=problem.count,
            examples=[asdict(example) for example in problem.examples],
        )

    def _add_repeats(self, problems: ProblemLog, first_row: int) -> None:
        """Add the repeated names of the current input, whose first record has the row `first_row`."""
        rows = first_row + self._repeats.rows()
        problems.add("duplicate_ids", rows.size)
        for row in rows[:MAX_EXAMPLES].tolist():
            example = Example(row, self._records.name(row), "stood in an earlier record already")
            problems.add_example("duplicate_ids", example)
        problems.add("ids_not_compared", self._repeats.not_compared)

    def _on_record_file(self, file: RecordFile) -> None:
        self._emit("records", **asdict(file))

    def _on_part(self, part: Part) -> None:
        self._emit("part", **asdict(part))


def _clear_leftovers(work_dir: Path) -> None:
    """Make the folders, and remove the temporary files of a killed preparation."""
    make_real_folders(work_dir)
    for folder in (work_dir / "records", work_dir / "parts"):
        make_real_folders(folder)
        for leftover in folder.glob("*.tmp"):
            leftover.unlink()


def prepare_files(
    inputs: Sequence[Path], work_dir: Path, chunk_length: int, residues_per_part: int
) -> list[Part]:
    """Prepare FASTA or FASTQ files outside a run, in the order of their sequences; return the parts.

    Raises PrepareError for files that a run would refuse.
    """
    parts: list[Part] = []
    job = Job(
        tuple(JobInput(number, path, None) for number, path in enumerate(inputs)),
        work_dir,
        chunk_length,
        residues_per_part,
        tail_parts=0,
        order_seed=None,
    )

    def keep(type: str, **fields: Any) -> None:
        if type == "part":
            parts.append(Part(**fields))

    Preparation(job, keep).run()
    return parts
