"""Chooses and runs a scanner, and makes the repairs that a user chose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from virnucpro_backend.prepare.arrays import offsets_of, translate
from virnucpro_backend.prepare.records.headers import decoded
from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.scanning.fasta import FastaScanner
from virnucpro_backend.prepare.scanning.fastq import FastqScanner
from virnucpro_backend.prepare.scanning.invisible_marks import InvisibleMarks
from virnucpro_backend.prepare.scanning.sniff import SequenceFormat

Repair = Literal["read_u_as_t", "whole_headers_as_names", "remove_gaps"]

# A star pads alignments of assemblers, and a tilde those of GCG.
GAPS = b"-.*~"

_U_AS_T = bytes.maketrans(b"Uu", b"Tt")


def mended(batch: ScanBatch, repairs: Collection[Repair]) -> ScanBatch:
    """Return the batch as if it had been scanned from a repaired file."""
    letters, begins, line_of = batch.letters, batch.begins, batch.line_of
    headers, header_counts = batch.headers, batch.header_counts
    if "remove_gaps" in repairs:
        is_gap = np.isin(letters, np.frombuffer(GAPS, np.uint8))
        begins = begins - offsets_of(is_gap.astype(np.int64))[begins]
        letters = letters[~is_gap]

        def line_of(letter: int) -> int:
            return batch.line_of(int(np.flatnonzero(~is_gap)[letter]))

    if "read_u_as_t" in repairs:
        letters = translate(letters, _U_AS_T)
    if "whole_headers_as_names" in repairs:
        ends = np.cumsum(header_counts).tolist()
        names = [
            _as_one_word(headers[end - count : end])
            for end, count in zip(ends, header_counts.tolist(), strict=True)
        ]
        headers = b"".join(names)
        header_counts = np.fromiter(map(len, names), np.int64, len(names))
    return replace(
        batch, letters=letters, begins=begins, headers=headers, header_counts=header_counts, line_of=line_of
    )


def _as_one_word(header: bytes) -> bytes:
    # In all tables, also the original tool's, names end at the first blank, so names must have none.
    return "_".join(decoded(header).split()).encode("utf-8")


class Scanner(Protocol):
    """The state machine of a format; blocks may be cut anywhere."""

    def feed(self, block: bytes) -> ScanBatch:
        """Scan the next block of the stream."""

    def finish(self) -> ScanBatch:
        """Scan what is left at the end of the stream."""


def scan(
    blocks: Iterable[bytes],
    scanner: Scanner,
    repairs: Collection[Repair] = (),
    marks: InvisibleMarks | None = None,
) -> Iterator[ScanBatch]:
    """Run a scanner over blocks, which may be cut anywhere; `marks` counts what is left out. See `mended`."""
    marks = InvisibleMarks() if marks is None else marks
    for batch in _as_written(blocks, scanner, marks):
        batch = marks.with_offsets(batch)
        yield mended(batch, repairs) if repairs else batch


def _as_written(blocks: Iterable[bytes], scanner: Scanner, marks: InvisibleMarks) -> Iterator[ScanBatch]:
    for block in blocks:
        if visible := marks.removed_from(block):
            yield scanner.feed(visible)
    if visible := marks.removed_from(b"", final=True):
        yield scanner.feed(visible)
    yield scanner.finish()


def new_scanner(sequence_format: SequenceFormat) -> Scanner:
    """Make a scanner for a format at the beginning of a stream."""
    return FastaScanner() if sequence_format == "fasta" else FastqScanner()
