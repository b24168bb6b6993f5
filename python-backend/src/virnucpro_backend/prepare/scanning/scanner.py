"""How a scanner is chosen and driven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.scanning.fasta import FastaScanner
from virnucpro_backend.prepare.scanning.fastq import FastqScanner
from virnucpro_backend.prepare.scanning.sniff import UTF8_BOM, SequenceFormat


class Scanner(Protocol):
    """A format's state machine over blocks cut anywhere."""

    def feed(self, block: bytes) -> ScanBatch:
        """Take the next block of the stream."""

    def finish(self) -> ScanBatch:
        """The stream has ended."""


def scan(blocks: Iterable[bytes], scanner: Scanner, *, at_start: bool = True) -> Iterator[ScanBatch]:
    """Run a scanner over a stream of blocks cut anywhere but inside a byte order mark. `at_start`: the stream
    is there from its beginning."""
    for block in filter(None, blocks):
        if at_start and block.startswith(UTF8_BOM):
            # As empty lines, so that byte offsets stay true.
            block = b"\n" * len(UTF8_BOM) + block[len(UTF8_BOM) :]
        at_start = False
        yield scanner.feed(block)
    yield scanner.finish()


def new_scanner(sequence_format: SequenceFormat, offset: int = 0, records: int = 0) -> Scanner:
    """A scanner of that format where a record begins: at the beginning of the stream, or at byte `offset`
    after so many records."""
    kind = FastaScanner if sequence_format == "fasta" else FastqScanner
    return kind(offset, records)
