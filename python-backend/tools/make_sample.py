"""`npm run python -- tools.make_sample` writes tests/data/sample.fa: 60 synthetic contigs, most of them
with an open reading frame by design.

It is seeded and makes the same file every time. NumPy's RandomState is used because its numbers never change.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

SEED = 20260
N_CONTIGS = 60
LINE_WIDTH = 70

BASES = "TCAG"
CODONS = [a + b + c for a in BASES for b in BASES for c in BASES]
AMINO_ACIDS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
"""The amino acids of CODONS, in that order, by the standard genetic code."""

STOP_FREE = [codon for codon, residue in zip(CODONS, AMINO_ACIDS, strict=True) if residue != "*"]
STOPS_IN_ALL_FRAMES = "TTAATTAATTAA"
"""It has TAA in all three frames and is its own reverse complement, so it has stops in all six frames."""


def open_frame(random: np.random.RandomState, n_codons: int, gc: float) -> str:
    """Make a reading frame without a stop, whose codons favour G and C (gc above 0.5) or A and T (below)."""
    weights = np.array([np.prod([gc if base in "GC" else 1 - gc for base in codon]) for codon in STOP_FREE])
    return "".join(random.choice(STOP_FREE, size=n_codons, p=weights / weights.sum()))


def random_bases(random: np.random.RandomState, length: int) -> str:
    return "".join(random.choice(list("ACGT"), size=length))


def reverse_complement(sequence: str) -> str:
    return sequence[::-1].translate(str.maketrans("ACGT", "TGCA"))


def with_open_frame(random: np.random.RandomState, length: int, gc: float) -> tuple[str, str]:
    """Make a contig that is one open frame from end to end, on either strand, and a description."""
    offset = int(random.randint(3))
    sequence = (random_bases(random, offset) + open_frame(random, length // 3 + 1, gc))[:length]
    reverse = bool(random.randint(2))
    strand = "reverse" if reverse else "forward"
    words = f"open frame on the {strand} strand, {'GC' if gc > 0.5 else 'AT'}-rich"
    return (reverse_complement(sequence) if reverse else sequence), words


def without_open_frame(random: np.random.RandomState, length: int) -> str:
    """Make a contig with stops in all six frames every 80 bases."""
    pieces = [random_bases(random, 68) + STOPS_IN_ALL_FRAMES for _ in range(length // 80 + 1)]
    return "".join(pieces)[:length]


def make_contigs() -> list[tuple[str, str]]:
    """Make the (header, sequence) of every contig."""
    random = np.random.RandomState(SEED)
    contigs = []
    for number in range(1, N_CONTIGS + 1):
        length = int(np.exp(random.uniform(np.log(300), np.log(4000))))
        gc = 0.36 if number % 2 else 0.64
        if number == 10:
            sequence, words = without_open_frame(random, 1200), "no open frame"
        elif number % 11 == 0:
            sequence, words = random_bases(random, length), "random bases"
        else:
            sequence, words = with_open_frame(random, length, gc)
        if number == 20:
            sequence, words = sequence[:150] + "N" * 60 + sequence[210:], words + ", a run of N"
        elif number == 30:
            sequence, words = sequence.lower(), words + ", lower case"
        elif number == 40:
            sequence, words = sequence[:63], words + ", short"
        contigs.append((f"demo_contig_{number:02d} synthetic; {words}", sequence))
    return contigs


def to_fasta(contigs: list[tuple[str, str]]) -> str:
    lines = []
    for header, sequence in contigs:
        lines.append(f">{header}")
        lines += [sequence[i : i + LINE_WIDTH] for i in range(0, len(sequence), LINE_WIDTH)]
    return "\n".join(lines) + "\n"


def main() -> None:
    target = Path(__file__).resolve().parents[1] / "tests" / "data" / "sample.fa"
    target.write_text(to_fasta(make_contigs()), encoding="ascii", newline="\n")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
