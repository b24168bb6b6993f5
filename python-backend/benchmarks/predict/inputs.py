"""Makes the inputs of this benchmark once: pieces of real sequences, of both strands, with substitutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray

WORKLOADS = ("reads", "contigs")
READ_BASES = 150
CONTIG_BASES = (1_000, 10_000)
SUBSTITUTIONS = 0.02
"""The share of bases that are drawn anew."""

BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def bench_input(folder: Path, workload: str, count: int, sources: Sequence[Path]) -> Path:
    """Return the FASTA file of a workload, from an earlier call if there was one."""
    path = folder / f"{workload}-{count}.fa"
    if not path.exists():
        pieces = _pieces(_letters(sources), workload, count, np.random.default_rng(1))
        with open(path, "wb") as out:
            out.writelines(b">%d\n%s\n" % (number, piece) for number, piece in enumerate(pieces, start=1))
    return path


def _letters(sources: Sequence[Path]) -> ByteArray:
    """Return the sequences of plain FASTA files end to end; a piece may cross from one to the next."""
    lines = (line for source in sources for line in source.read_bytes().splitlines())
    return np.frombuffer(b"".join(line for line in lines if not line.startswith(b">")).upper(), np.uint8)


def _pieces(letters: ByteArray, workload: str, count: int, random: np.random.Generator) -> Iterator[bytes]:
    for _ in range(count):
        length = random.integers(*CONTIG_BASES) if workload == "contigs" else READ_BASES
        start = random.integers(letters.size - length)
        piece = letters[start : start + length].copy()
        wrong = random.random(length) < SUBSTITUTIONS
        piece[wrong] = BASES[random.integers(4, size=np.count_nonzero(wrong))]
        text = piece.tobytes()
        yield text.translate(COMPLEMENT)[::-1] if random.random() < 0.5 else text
