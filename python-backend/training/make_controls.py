"""Makes resources/controls: `npm run python -- training.make_controls DATA CRASSPHAGE [OUT]`.

The controls are pieces of fragments whose records are held out of all training, parts of crAssphage, and
shuffled pieces. Each piece of 500 bp begins at a random place of its fragment where a frame is open, since a
model can't score other pieces; the piece of 300 bp is its beginning. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.fragments import TEST_FOLDS, Fragment, read_fragments
from virnucpro_backend.prepare.frames import open_frames

SEED = 28
LABELLED = 100
"""The number of viral pieces, and of host pieces."""
PARTS_OF_CRASSPHAGE = 20
SHUFFLED = 20
"""The number of shuffled viral and of shuffled host pieces, unless none with an open frame is found."""
MOST_SHUFFLES = 3000
CRASSPHAGE = "NC_024711"


@dataclass(frozen=True)
class Piece:
    """A piece of 500 letters; `source` describes their origin in the header."""

    group: str
    source: str
    letters: str


def has_open_frame(letters: str) -> bool:
    """Whether a model can score these letters."""
    codes = np.frombuffer(letters.encode("ascii"), np.uint8)
    return open_frames(codes, np.array([0]), np.array([len(letters)])).chunk.size > 0


def cut(fragment: Fragment, length: int, random: np.random.Generator) -> tuple[int, str] | None:
    """Find a random piece with an open frame; return its first base within the fragment and its letters."""
    for begin in random.permutation(len(fragment.letters) - length + 1).tolist():
        piece = fragment.letters[begin : begin + length]
        if set(piece) <= set("ACGT") and has_open_frame(piece):
            return begin, piece
    return None


def labelled(fragments: list[Fragment], random: np.random.Generator) -> Iterator[Piece]:
    """Yield pieces of fragments in random order, first one from each record."""
    order = [fragments[i] for i in random.permutation(len(fragments))]
    seen: set[str] = set()
    first = [f for f in order if not (f.record in seen or seen.add(f.record))]  # type: ignore[func-returns-value]
    rest = [f for f in order if f not in first]
    for fragment in [*first, *rest]:
        found = cut(fragment, 500, random)
        if found is not None:
            begin, letters = found
            source = f"{fragment.record}:{fragment.begin + begin}-{fragment.begin + begin + 499}"
            yield Piece("viral" if fragment.virus else "host", source, letters)


def shuffled(letters: str, random: np.random.Generator) -> str:
    """Shuffle letters but preserve the counts of all pairs of neighbours.

    The method is that of Altschul and Erickson 1985 (doi:10.1093/oxfordjournals.molbev.a040370): a random
    Eulerian path through the graph of neighbours. A last edge is drawn for every letter until these lead to
    the final letter.
    """
    followers: dict[str, list[str]] = {}
    for a, b in itertools.pairwise(letters):
        followers.setdefault(a, []).append(b)
    while True:
        last = {a: edges[random.integers(len(edges))] for a, edges in followers.items() if a != letters[-1]}
        if all(_reaches(a, last, letters[-1]) for a in last):
            break
    paths = {}
    for a, edges in followers.items():
        rest = list(edges)
        if a in last:
            rest.remove(last[a])
        path = [rest[i] for i in random.permutation(len(rest))]
        paths[a] = iter([*path, last[a]] if a in last else path)
    out = [letters[0]]
    for _ in range(len(letters) - 1):
        out.append(next(paths[out[-1]]))
    return "".join(out)


def _reaches(letter: str, last: dict[str, str], goal: str) -> bool:
    for _ in range(len(last)):
        letter = last[letter]
        if letter == goal:
            return True
    return False


def make_panel(fragments: list[Fragment], crassphage: str) -> list[Piece]:
    """Make all pieces. Viral and host pieces alternate, so that results shifted by one row are detected."""
    held_out = [f for f in fragments if f.fold in TEST_FOLDS and f.record.partition(".")[0] != CRASSPHAGE]
    random = np.random.default_rng(SEED)
    viral = list(labelled([f for f in held_out if f.virus], random))[:LABELLED]
    host = list(labelled([f for f in held_out if not f.virus], random))[:LABELLED]
    parts = []
    step = len(crassphage) // PARTS_OF_CRASSPHAGE
    for begin in range(0, step * PARTS_OF_CRASSPHAGE, step):
        taken = cut(Fragment(CRASSPHAGE, 1, step, True, crassphage[begin : begin + step]), 500, random)
        if taken is not None:
            at, letters = taken
            parts.append(Piece("crassphage", f"{CRASSPHAGE}:{begin + at + 1}-{begin + at + 500}", letters))
    mixed = []
    for number in range(LABELLED):
        for piece in (viral[number], host[number]):
            tries = (shuffled(piece.letters, random) for _ in range(MOST_SHUFFLES))
            found = next((letters for letters in tries if has_open_frame(letters)), None)
            if found is not None:
                mixed.append(Piece("shuffled", f"{piece.source} of {piece.group}", found))
        if len(mixed) >= 2 * SHUFFLED:
            break
    pairs = [piece for pair in zip(viral, host, strict=True) for piece in pair]
    return [*pairs, *parts, *mixed[: 2 * SHUFFLED]]


def to_fasta(pieces: list[Piece], length: int) -> str:
    """Write the first letters of every piece; names are numbered within their group."""
    counts: dict[str, int] = {}
    lines = []
    for piece in pieces:
        number = counts[piece.group] = counts.get(piece.group, 0) + 1
        lines.append(f">{piece.group}_{number:03d} {piece.source}\n{piece.letters[:length]}\n")
    return "".join(lines)


def read_genome(path: Path) -> str:
    """Read the letters of a FASTA file with one record."""
    return "".join(path.read_text(encoding="ascii").split("\n")[1:]).upper()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    parser.add_argument("crassphage", type=Path, help="FASTA file of NC_024711")
    default = Path(__file__).resolve().parents[2] / "resources" / "controls"
    parser.add_argument("out", type=Path, nargs="?", default=default)
    arguments = parser.parse_args()
    pieces = make_panel(read_fragments(arguments.data), read_genome(arguments.crassphage))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for length in (500, 300):
        text = to_fasta(pieces, length)
        (arguments.out / f"{length}.fa").write_text(text, encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
