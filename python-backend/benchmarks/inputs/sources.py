"""The sequences to sample from, all in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of, translate
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.scanning.scanner import new_scanner, scan
from virnucpro_backend.prepare.scanning.sniff import sniff_format

_UPPER = bytes(range(256)).upper()


@dataclass(frozen=True)
class Sources:
    """Records end to end: letters uint8 [n], upper-case ASCII; lengths int64 [k], bases of each."""

    letters: ByteArray
    lengths: IntArray

    @property
    def origins(self) -> IntArray:
        """Where each record begins in `letters`, int64 [k]."""
        return offsets_of(self.lengths)[:-1]


def read_sources(paths: Sequence[Path]) -> Sources:
    """Read all records of FASTA or FASTQ files, plain or compressed. Raises PrepareError as prepare does."""
    letters: list[ByteArray] = []
    begins: list[IntArray] = []
    total = 0
    for path in paths:
        with InputFile(path) as file:
            blocks = file.blocks()
            beginning = next(blocks, b"")
            scanner = new_scanner(sniff_format(file, beginning))
            for batch in scan(chain([beginning], blocks), scanner):
                begins.append(total + batch.begins)
                letters.append(batch.letters)
                total += batch.letters.size
    bounds = np.concatenate([*begins, np.array([total], np.int64)])
    return Sources(translate(np.concatenate([np.zeros(0, np.uint8), *letters]), _UPPER), np.diff(bounds))
