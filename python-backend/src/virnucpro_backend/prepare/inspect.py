"""`python -m virnucpro_backend.prepare.inspect`: report what files hold and what a run will do with them.

Paths come on standard input, each as a JSON string on its own line, or as arguments. Each file gives one
`inspected` event as soon as it has been read; meanwhile `reading` is sent every few seconds. A file that
can't be read is a problem in its event, never an error of this program.

A file is read once, with the code of the preparation, but only numbers are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from virnucpro_backend.prepare.allocation import keep_freed_memory
from virnucpro_backend.prepare.arrays import IntArray
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.frames import STANDARD, GeneticCode
from virnucpro_backend.prepare.input_file import InputFile, tell_of_reading
from virnucpro_backend.prepare.judged import Judged, JudgedCounts
from virnucpro_backend.prepare.records.headers import RepeatedNames
from virnucpro_backend.prepare.records.name_marks import NameMarks
from virnucpro_backend.prepare.records.problems import MAX_EXAMPLES
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.records.survey import Survey
from virnucpro_backend.prepare.scanning.scanner import Repair
from virnucpro_backend.protocol import Channel


class Inspection:
    """What is known about a file so far; after a failure, what came before it."""

    def __init__(
        self, looks: Collection[str], repairs: Collection[Repair], min_length: int, code: GeneticCode
    ) -> None:
        self._source: InputFile | None = None
        self._survey = Survey(spool_folder=None, repairs=repairs, min_length=min_length)
        self._lengths = LengthStatistics()
        self._repeats = RepeatedNames()
        self._repeated_headers = RepeatedNames()
        self._name_marks = NameMarks()
        lengths_of = {look: [int(length) for length in look.split("+")] for look in looks}
        self._judged = JudgedCounts(lengths_of, code)
        self._sha256: str | None = None
        self._failure: PrepareError | None = None

    def read(self, path: Path) -> None:
        """Read the entire file, and record the error that ended reading, if any."""
        try:
            with InputFile(path) as source:
                self._read(source)
        except PrepareError as failure:
            self._failure = failure

    def _read(self, source: InputFile) -> None:
        self._source, survey = source, self._survey
        for group in survey.groups(source):
            lengths = group.records.lengths
            scorable = np.where(group.reason == Reason.OK, lengths, 0)
            self._judged.add(group.records.letters, lengths, scorable)
            self._lengths.add(lengths)
            self._repeats.add(group.headers.name_hashes)
            self._name_marks.add(group.headers.fragment_hashes)
            self._repeated_headers.add(group.headers.hashes())
        self._sha256 = source.sha256()
        survey.problems.add("duplicate_ids", self._repeats.rows().size)
        survey.problems.add("ids_not_compared", self._repeats.not_compared)

    def fields(self) -> dict[str, Any]:
        """The fields of the `inspected` event, without the path."""
        survey, source, composition = self._survey, self._source, self._survey.composition
        bases, count = composition.bases, survey.problems.count
        minimum, median, maximum = self._lengths.minimum_median_maximum()
        return {
            "size_bytes": source.bytes_total if source else 0,
            "sha256": self._sha256,
            "format": survey.format or "unknown",
            "compression": source.compression if source else "none",
            "sequences": survey.records,
            "bases": bases,
            "min_length": minimum,
            "median_length": median,
            "max_length": maximum,
            "empty": count("empty"),
            "invalid_characters": count("invalid_characters") + count("protein_records"),
            "malformed": count("malformed_record"),
            "bytes": survey.bytes,
            "duplicate_ids": count("duplicate_ids"),
            "duplicate_headers": int(self._repeated_headers.rows().size),
            "name_marks": {"step": self._name_marks.step, "marks": self._name_marks.text()},
            "ambiguous_fraction": composition.ambiguous / bases if bases else 0.0,
            "judged": {look: self._of_look(judged) for look, judged in self._judged.looks.items()},
            "problems": self._problems(),
        }

    def _of_look(self, judged: Judged) -> dict[str, int]:
        counts = {name: round(count) for name, count in asdict(judged).items() if name != "chunk_lengths"}
        return counts | {"shorter": self._lengths.below(judged.chunk_lengths[-1])}

    def _problems(self) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = [
            {
                "code": problem.code,
                "values": {},
                "count": problem.count,
                "examples": [asdict(example) for example in problem.examples[:MAX_EXAMPLES]],
            }
            for problem in self._survey.problems.all()
        ]
        if self._failure is not None:
            code, values = self._failure.code, self._failure.values
            shown.insert(0, {"code": code, "values": values, "count": 1, "examples": []})
        return shown


_COUNTED_BELOW = 1 << 16


class LengthStatistics:
    """Counts short lengths and keeps long ones, each of which took at least 64 kB of input."""

    def __init__(self) -> None:
        self._counts = np.zeros(_COUNTED_BELOW, np.int64)
        self._long: list[IntArray] = []

    def add(self, lengths: IntArray) -> None:
        """Add lengths in bases, [k]."""
        is_long = lengths >= _COUNTED_BELOW
        if is_long.any():
            self._long.append(lengths[is_long])
            lengths = lengths[~is_long]
        self._counts += np.bincount(lengths, minlength=_COUNTED_BELOW)

    def below(self, length: int) -> int:
        """Number of sequences shorter than `length`."""
        return int(self._counts[:length].sum() + (self._long_lengths() < length).sum())

    def minimum_median_maximum(self) -> tuple[int, int, int]:
        """All 0 without sequences; for an even number of sequences, the lower middle one is the median."""
        values = np.concatenate([np.flatnonzero(self._counts), np.unique(self._long_lengths())])
        _, long_counts = np.unique(self._long_lengths(), return_counts=True)
        counts = np.concatenate([self._counts[self._counts > 0], long_counts])
        if values.size == 0:
            return 0, 0, 0
        ranks = np.cumsum(counts)
        median = values[np.searchsorted(ranks, (int(ranks[-1]) + 1) // 2)]
        return int(values[0]), int(median), int(values[-1])

    def _long_lengths(self) -> IntArray:
        return np.concatenate([np.zeros(0, np.int64), *self._long])


def main(arguments: list[str] | None = None) -> int:
    """Always return 0: problems with a file are in its event."""
    parser = argparse.ArgumentParser(prog="inspect", description="Report what sequence files hold.")
    parser.add_argument(
        "--look",
        action="append",
        default=[],
        help="chunk length in bases to count for, such as 500 or 500+300",
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="instead of standard input")
    parser.add_argument("--repair", action="append", default=[], help="repair made while files are read")
    parser.add_argument("--min-length", type=int, default=1, help="bases of the shortest sequence used")
    parser.add_argument("--genetic-code", type=int, default=STANDARD, choices=get_args(GeneticCode))
    options = parser.parse_args(arguments)
    channel = Channel()
    keep_freed_memory()
    tell_of_reading(lambda: channel.emit("reading"))
    for path in options.paths or _paths_of(sys.stdin.buffer):
        reading = (options.look, options.repair, options.min_length, options.genetic_code)
        channel.emit("inspected", **inspect_file(path, *reading))
    return 0


def _paths_of(lines: Iterable[bytes]) -> list[Path]:
    # Read all lines before the first file, so that the writer need not wait.
    return [Path(json.loads(line)) for line in lines if line.strip()]


def inspect_file(
    path: Path,
    looks: Collection[str],
    repairs: Collection[Repair] = (),
    min_length: int = 1,
    code: GeneticCode = STANDARD,
) -> dict[str, Any]:
    """Return the fields of the `inspected` event (electron/contract/protocol/prepare.ts) of one file."""
    inspection = Inspection(looks, repairs, min_length, code)
    inspection.read(path)
    return {"path": str(path), **inspection.fields()}


if __name__ == "__main__":
    sys.exit(main())
