"""Makes resources/example.fa: `npm run python -- training.make_example CONTIGS CRASSPHAGE [OUT]`.

It holds contigs of a human gut metagenome, and parts of crAssphage, a phage that is common there: real
sequences with viruses to find.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.make_controls import CRASSPHAGE, read_genome

PARTS = ((1, 9_000), (22_001, 27_000), (45_001, 57_000), (70_001, 72_000), (90_001, 91_200))
"""First and last base of the parts, which have 12,000 to 1,200 bp."""
SHORTEST, LONGEST = 1_000, 8_000
EVERY = 13
"""Every 13th contig between these lengths is used, about thirty in total."""


def read_fasta(path: Path) -> list[tuple[str, str]]:
    """Read header lines and letters."""
    entries = path.read_text(encoding="ascii").split(">")[1:]
    return [(e.partition("\n")[0], e.partition("\n")[2].replace("\n", "").upper()) for e in entries]


def make_example(contigs: list[tuple[str, str]], genome: str) -> str:
    """Make the text of the FASTA file, with the phage's parts among the contigs."""
    chosen = [(h.split()[0], s) for h, s in contigs if SHORTEST <= len(s) <= LONGEST][::EVERY]
    records = [(f"{name} contig of a human gut metagenome", letters) for name, letters in chosen]
    for number, (first, last) in enumerate(PARTS, start=1):
        header = f"crassphage_{number} {CRASSPHAGE}.1, bases {first} to {last}"
        records.insert(number * len(chosen) // len(PARTS), (header, genome[first - 1 : last]))
    lines = [f">{header}\n" + _wrapped(letters) for header, letters in records]
    return "".join(lines)


def _wrapped(letters: str) -> str:
    return "".join(f"{letters[i : i + 80]}\n" for i in range(0, len(letters), 80))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contigs", type=Path, help="FASTA file of the gut contigs")
    parser.add_argument("crassphage", type=Path, help=f"FASTA file of {CRASSPHAGE}")
    default = Path(__file__).resolve().parents[2] / "resources" / "example.fa"
    parser.add_argument("out", type=Path, nargs="?", default=default)
    arguments = parser.parse_args()
    text = make_example(read_fasta(arguments.contigs), read_genome(arguments.crassphage))
    arguments.out.write_text(text, encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
