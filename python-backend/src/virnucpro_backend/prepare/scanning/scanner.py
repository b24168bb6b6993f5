"""Chooses and runs a scanner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.scanning.fasta import FastaScanner
from virnucpro_backend.prepare.scanning.fastq import FastqScanner
from virnucpro_backend.prepare.scanning.repairs import Repair, mended
from virnucpro_backend.prepare.scanning.sniff import UTF8_BOM, SequenceFormat


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
