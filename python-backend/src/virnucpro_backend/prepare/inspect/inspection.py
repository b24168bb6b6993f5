"""Inspects one file in one pass with the code of the preparation, but keeps only numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from virnucpro_backend.prepare.chunking import chunk_counts
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.inspect.frame_sample import FrameSample
from virnucpro_backend.prepare.records.headers import RepeatedIdentifiers, hash_headers, hash_identifiers
from virnucpro_backend.prepare.records.lengths import LENGTH_BIN_EDGES, LengthStatistics
from virnucpro_backend.prepare.records.problems import Problem
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.records.survey import Survey
from virnucpro_backend.prepare.scanning.repairs import Repair

# A run is pointless with these, although each record can be read.
_BLOCKING = ("looks_like_protein", "looks_like_rna")


class Inspection:
    """What is known about a file so far; after a failure, what came before it."""

    def __init__(self, chunk_length: int, repairs: Collection[Repair] = ()) -> None:
        self._chunk_length = chunk_length
        self._repairs = repairs
        self._source: InputFile | None = None
        self._survey: Survey | None = None
        self._lengths = LengthStatistics()
        self._repeats = RepeatedIdentifiers()
        self._repeated_headers = RepeatedIdentifiers()
        self._chunks = 0
        self._sample = FrameSample(chunk_length)
        self._sha256: str | None = None
        self._failure: PrepareError | None = None

    def read(self, source: InputFile) -> None:
        """Read the entire file. Raises PrepareError."""
        self._source = source
        survey = self._survey = Survey(source, spool_folder=None, repairs=self._repairs)
        for group in survey.groups():
            lengths = group.records.lengths
            scorable = np.where(group.reason == Reason.OK, lengths, 0)
            self._chunks += int(chunk_counts(scorable, self._chunk_length).sum())
            self._sample.add(group.records.letters, lengths, scorable)
            self._lengths.add(lengths)
            self._repeats.add(hash_identifiers(group.headers, group.header_counts))
            self._repeated_headers.add(hash_headers(group.headers, group.header_counts))
        self._sha256 = source.sha256()
        survey.problems.add("duplicate_ids", self._repeats.rows().size)
        survey.problems.add("ids_not_compared", self._repeats.not_compared)

    def failed(self, failure: PrepareError) -> None:
        """Record the error that ended reading."""
        self._failure = failure

    def fields(self) -> dict[str, Any]:
        """The fields of the `inspected` event, without the path."""
        survey, source = self._survey, self._source
        problems = survey.problems if survey else None
        composition = survey.composition if survey else None
        bases = composition.bases if composition else 0
        minimum, median, maximum = self._lengths.minimum_median_maximum()
        frames, residues = self._sample.frames_and_residues()

        def count(code: str) -> int:
            return problems.count(code) if problems else 0

        return {
            "size_bytes": source.bytes_total if source else 0,
            "sha256": self._sha256,
            "format": (survey.format if survey else None) or "unknown",
            "compression": source.compression if source else "none",
            "sequences": survey.records if survey else 0,
            "bases": bases,
            "min_length": minimum,
            "median_length": median,
            "max_length": maximum,
            "length_bin_edges": list(LENGTH_BIN_EDGES),
            "length_histogram": self._lengths.histogram(),
            "below_chunk_length": self._lengths.below(self._chunk_length),
            "empty": count("empty"),
            "invalid_characters": count("invalid_characters"),
            "malformed": count("malformed_record"),
            "duplicate_ids": count("duplicate_ids"),
            "duplicate_headers": int(self._repeated_headers.rows().size),
            "ambiguous_fraction": composition.ambiguous / bases if composition and bases else 0.0,
            "looks_like_protein": bool(composition and composition.looks_like_protein),
            "chunks": self._chunks,
            "frames": frames,
            "residues": residues,
            "problems": self._problems(problems.all() if problems else []),
        }

    def _problems(self, found: list[Problem]) -> list[dict[str, Any]]:
        shown = [
            {
                "code": problem.code,
                "severity": "blocks" if problem.code in _BLOCKING else problem.kind.severity,
                "count": problem.count,
                "message": problem.message,
                "what_happens": problem.kind.what_happens,
            }
            for problem in found
        ]
        if self._failure is not None:
            shown.insert(
                0,
                {
                    "code": self._failure.code.value,
                    "severity": "blocks",
                    "count": 1,
                    "message": self._failure.message,
                    "what_happens": self._failure.next_step,
                    **({} if self._failure.kind is None else {"kind": self._failure.kind}),
                },
            )
        return shown
