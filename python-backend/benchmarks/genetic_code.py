"""How often sequences get a hint to another genetic code: `npm run python -- benchmarks.genetic_code`.

Random sequences have independent letters. Made-up ones hold genes of 150 to 500 codons, three in ten of them
on the reverse strand, with 20 to 100 random bases between; a share of the codons is TAG or TGA, which no gene
ends with.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, offsets_of
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import open_frames
from virnucpro_backend.prepare.genetic_code import genetic_code_hints
from virnucpro_backend.prepare.records.survey import InMemory

LENGTHS = (2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000)
MOST_BASES = 30_000_000
RANDOM_GC = tuple(percent / 100 for percent in range(30, 76, 5))
MADE_GC = (0.3, 0.4, 0.5, 0.6)
SHARES = (0.01, 0.02, 0.03)
CODES = {"TAG": 15, "TGA": 4}
BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
STOPS = ("TAA", "TAG", "TGA")


def hints(sequences: Sequence[ByteArray], chunk_length: int) -> ByteArray:
    """Return the hint of each sequence, uint8 [k]: 0, 4 or 15."""
    lengths = np.array([sequence.size for sequence in sequences], np.int64)
    letters = np.concatenate(sequences)
    table = chunk_table(lengths, chunk_length)
    frames = open_frames(letters, offsets_of(lengths)[table.record] + table.start, table.length)
    is_lost = np.ones(table.record.size, np.bool_)
    is_lost[frames.chunk] = False
    chunks, *lost = (
        np.bincount(table.record[chosen], minlength=lengths.size)
        for chosen in (slice(None), is_lost, frames.lost_to_tag, frames.lost_to_tga)
    )
    return genetic_code_hints(InMemory(letters), lengths, chunks, np.stack(lost), chunk_length)


def random_letters(random: np.random.Generator, length: int, gc: float) -> ByteArray:
    """Independent letters, uint8 [length]."""
    return BASES[random.choice(4, length, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2])]


def genes(random: np.random.Generator, length: int, gc: float, codon: str, share: float) -> ByteArray:
    """Genes in which `share` of the codons is `codon`, uint8 [length]."""
    codons = np.array([a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in STOPS])
    weights = np.array([np.prod([gc if base in "GC" else 1 - gc for base in one]) for one in codons])
    ends = [stop for stop in STOPS if stop != codon]
    made: list[ByteArray] = []
    while sum(part.size for part in made) < length:
        body = random.choice(codons, random.integers(150, 500), p=weights / weights.sum())
        body = np.where(random.random(body.size) < share, codon, body)
        gene = ("ATG" + "".join(body) + ends[random.integers(2)]).encode()
        if random.random() < 0.3:
            gene = gene.translate(COMPLEMENT)[::-1]
        made += [np.frombuffer(gene, np.uint8), random_letters(random, int(random.integers(20, 100)), gc)]
    return np.concatenate(made)[:length]


def percent(found: ByteArray, code: int | None = None) -> float:
    """The percentage of sequences with this hint; None: with any."""
    return round(100 * float(np.mean(found > 0 if code is None else found == code)), 2)


def measure(random: np.random.Generator, count: int, chunk_length: int, length: int) -> None:
    """Print how often random sequences get a hint, and made-up ones the right one, in percent."""
    row = {"chunk_length": chunk_length, "length": length}
    false = {}
    for gc in RANDOM_GC:
        made = [random_letters(random, length, gc) for _ in range(count)]
        false[gc] = percent(hints(made, chunk_length))
    print(json.dumps({**row, "random": false}), flush=True)
    for codon, code in CODES.items():
        for share in SHARES:
            right = {}
            for gc in MADE_GC:
                made = [genes(random, length, gc, codon, share) for _ in range(count // 5)]
                right[gc] = percent(hints(made, chunk_length), code)
            print(json.dumps({**row, "codon": codon, "share": share, "right": right}), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.genetic_code", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=1000, help="random sequences of each kind (default 1000)"
    )
    count: int = parser.parse_args(argv).count
    random = np.random.default_rng(1)
    for chunk_length in (300, 500):
        for length in LENGTHS:
            measure(random, min(count, MOST_BASES // length), chunk_length, length)


if __name__ == "__main__":
    main()
