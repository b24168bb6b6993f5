"""Chooses and runs a scanner, and makes the repairs that a user chose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal, Protocol

import numpy as np

from virnucpro_backend.prepare.arrays import offsets_of, translate
from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.scanning.fasta import FastaScanner
from virnucpro_backend.prepare.scanning.fastq import FastqScanner
from virnucpro_backend.prepare.scanning.sniff import UTF8_BOM, SequenceFormat

Repair = Literal["read_u_as_t", "whole_headers_as_names", "remove_gaps"]

GAPS = b"-."

_U_AS_T = bytes.maketrans(b"Uu", b"Tt")


def mended(batch: ScanBatch, repairs: Collection[Repair]) -> ScanBatch:
    """Return the batch as if it had been scanned from a repaired file."""
    letters, begins = batch.letters, batch.begins
    headers, header_counts = batch.headers, batch.header_counts
    if "remove_gaps" in repairs:
        is_gap = np.isin(letters, np.frombuffer(GAPS, np.uint8))
        begins = begins - offsets_of(is_gap.astype(np.int64))[begins]
        letters = letters[~is_gap]
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
    return ScanBatch(
        letters, begins, batch.byte_offsets, headers, header_counts, batch.malformed, batch.comment_lines
    )


def _as_one_word(header: bytes) -> bytes:
    # In all tables, also the original tool's, names end at the first blank, so names must have none.
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    return "_".join(text.split()).encode("utf-8")


class Scanner(Protocol):
    """The state machine of a format; blocks may be cut anywhere."""

    def feed(self, block: bytes) -> ScanBatch:
        """Scan the next block of the stream."""

    def finish(self) -> ScanBatch:
        """Scan what is left at the end of the stream."""


def scan(blocks: Iterable[bytes], scanner: Scanner, repairs: Collection[Repair] = ()) -> Iterator[ScanBatch]:
    """Run a scanner over blocks, which may be cut anywhere except in a byte order mark; see `mended`."""
    for batch in _as_written(blocks, scanner):
        yield mended(batch, repairs) if repairs else batch


def _as_written(blocks: Iterable[bytes], scanner: Scanner) -> Iterator[ScanBatch]:
    at_start = True
    for block in filter(None, blocks):
        if at_start and block.startswith(UTF8_BOM):
            # Replace it by empty lines, so that byte offsets stay correct.
            block = b"\n" * len(UTF8_BOM) + block[len(UTF8_BOM) :]
        at_start = False
        yield scanner.feed(block)
    yield scanner.finish()


def new_scanner(sequence_format: SequenceFormat) -> Scanner:
    """Make a scanner for a format at the beginning of a stream."""
    return FastaScanner() if sequence_format == "fasta" else FastqScanner()
