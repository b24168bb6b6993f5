"""Makes the inputs of this benchmark once: pieces of real sequences, of both strands, with substitutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray

WORKLOADS = ("reads", "contigs", "copies")
READ_BASES = 150
CONTIG_BASES = (1_000, 10_000)
SUBSTITUTIONS = 0.02
"""The share of bases that are drawn anew."""

SHARE_OF_COPIES = 0.3
"""The share of reads in the workload `copies` that repeat an earlier one, like PCR duplicates."""

BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


@dataclass(frozen=True)
class BenchInput:
    """A FASTA file, and how it was made."""

    path: Path
    made: dict[str, Any]


def bench_input(folder: Path, workload: str, count: int, seed: int, sources: Sequence[Path]) -> BenchInput:
    """Return the input of a workload, from an earlier call if there was one."""
    path = folder / f"{workload}-{count}-{seed}.fa"
    if not path.exists():
        pieces = _pieces(_letters(sources), workload, count, np.random.default_rng(seed))
        with open(path, "wb") as out:
            out.writelines(b">%d\n%s\n" % (number, piece) for number, piece in enumerate(pieces, start=1))
    return BenchInput(path, {"workload": workload, "sequences": count, "seed": seed})


def _letters(sources: Sequence[Path]) -> ByteArray:
    """Return the sequences of plain FASTA files end to end; a piece may cross from one to the next."""
    lines = (line for source in sources for line in source.read_bytes().splitlines())
    return np.frombuffer(b"".join(line for line in lines if not line.startswith(b">")).upper(), np.uint8)


def _pieces(letters: ByteArray, workload: str, count: int, random: np.random.Generator) -> Iterator[bytes]:
    earlier: list[bytes] = []
    for _ in range(count):
        if workload == "copies" and earlier and random.random() < SHARE_OF_COPIES:
            yield earlier[random.integers(len(earlier))]
            continue
        length = random.integers(*CONTIG_BASES) if workload == "contigs" else READ_BASES
        start = random.integers(letters.size - length)
        piece = letters[start : start + length].copy()
        wrong = random.random(length) < SUBSTITUTIONS
        piece[wrong] = BASES[random.integers(4, size=np.count_nonzero(wrong))]
        text = piece.tobytes()
        earlier = [*earlier[-63:], text]
        yield text.translate(COMPLEMENT)[::-1] if random.random() < 0.5 else text
