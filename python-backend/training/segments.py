"""Measures viral-looking segments on contigs in which viral stretches of known place are planted.

`npm run python -- training.segments plant DATA FOLDER` writes contigs.fa and planted.bed. `compare FOLDER
SEGMENTS` compares a run's export `segments` of these contigs with planted.bed. All places are in bp, from 0,
the end not included, as in BED.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.fragments import TEST_FOLDS, Fragment, read_fragments

STRETCHES = (2000, 5000, 10_000)
"""Lengths of the planted stretches in bp."""
CONTIGS = 30
"""Contigs for each of these lengths, with one stretch each."""
HOST_FRAGMENTS = 6
"""Host fragments of 3,000 bp in a contig."""
FLANK = 3000
"""A stretch has at least this many bp of host on either side."""
RESAMPLINGS = 1000

Span = tuple[int, int]


@dataclass(frozen=True)
class Contig:
    """A contig of `length` bp, the stretch planted in it, and the segments found; spans in bp."""

    length: int
    planted: Span
    segments: Sequence[Span]

    def _overlap(self, segment: Span) -> int:
        return max(0, min(segment[1], self.planted[1]) - max(segment[0], self.planted[0]))

    @property
    def host(self) -> int:
        """Bases of host, in bp."""
        return self.length - (self.planted[1] - self.planted[0])

    @property
    def false(self) -> int:
        """Segments that lie for more than half outside the stretch."""
        return sum(2 * self._overlap(s) < s[1] - s[0] for s in self.segments)

    @property
    def apart(self) -> int:
        """Segments that share no base with the stretch."""
        return sum(self._overlap(s) == 0 for s in self.segments)

    @property
    def border_errors(self) -> list[int]:
        """Errors of both borders in bp; none if the stretch is not found.

        It is found by one segment that covers at least half of it and lies for at least half in it.
        """
        begin, end = self.planted
        for segment in self.segments:
            if 2 * self._overlap(segment) >= max(end - begin, segment[1] - segment[0]):
                return [abs(segment[0] - begin), abs(segment[1] - end)]
        return []


def false_per_mb(contigs: Sequence[Contig]) -> float:
    """False segments per million bp of host."""
    return 1e6 * sum(c.false for c in contigs) / sum(c.host for c in contigs)


def border_error(contigs: Sequence[Contig]) -> float:
    """Median error in bp of both borders of the stretches that were found, NaN if none was."""
    errors = [error for contig in contigs for error in contig.border_errors]
    return float(np.median(errors)) if errors else float("nan")


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


def share(count: int, total: int) -> Estimate:
    """Return count / total with Wilson's interval."""
    if total == 0:
        return Estimate(math.nan, 0.0, 1.0)
    p, z2 = count / total, 1.959963984540054**2
    middle = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = math.sqrt(z2 * p * (1 - p) / total + (z2 / (2 * total)) ** 2) / (1 + z2 / total)
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


def over_contigs(contigs: Sequence[Contig], measure: Callable[[Sequence[Contig]], float]) -> Estimate:
    """Return a measure with the 95 % interval over resampled contigs."""
    random = np.random.default_rng(1)
    n = len(contigs)
    drawn = [measure([contigs[i] for i in random.integers(0, n, n)]) for _ in range(RESAMPLINGS)]
    low, high = np.nanpercentile(drawn, (2.5, 97.5)).tolist()
    return Estimate(measure(contigs), low, high)


def planted_contigs(
    fragments: Sequence[Fragment], random: np.random.Generator
) -> list[tuple[str, str, int, int]]:
    """Make contigs (name, letters) with one viral stretch each (begin, end) from held-out fragments.

    No viral fragment is used twice, no host fragment twice for one length of stretches. A stretch longer than
    a fragment is joined from several: neighbours of one record where there are any.
    """
    test = [f for f in fragments if f.fold in TEST_FOLDS]
    ranks = {record: random.random() for record in sorted({f.record for f in test})}
    viral = iter(sorted((f for f in test if f.virus), key=lambda f: (ranks[f.record], f.begin)))
    host = [f.letters for f in test if not f.virus]
    contigs = []
    for length in STRETCHES:
        order = random.permutation(len(host))
        for number in range(CONTIGS):
            chosen = order[number * HOST_FRAGMENTS : (number + 1) * HOST_FRAGMENTS]
            around = "".join(host[i] for i in chosen)
            stretch = ""
            while len(stretch) < length:
                stretch += next(viral).letters
            begin = int(random.integers(FLANK, len(around) - FLANK + 1))
            letters = around[:begin] + stretch[:length] + around[begin:]
            contigs.append((f"planted{length}_{number + 1}", letters, begin, begin + length))
    return contigs


def read_bed(path: Path) -> dict[str, list[Span]]:
    """Read spans in bp by the name of their contig."""
    spans: dict[str, list[Span]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, begin, end = line.split("\t")[:3]
            spans.setdefault(name, []).append((int(begin), int(end)))
    return spans


def read_contigs(folder: Path, segments: Path) -> list[Contig]:
    """Read the planted contigs of `folder` with the segments that a run found in them."""
    planted, found = read_bed(folder / "planted.bed"), read_bed(segments)
    entries = (e.split("\n") for e in (folder / "contigs.fa").read_text(encoding="ascii").split(">")[1:])
    lengths = {name: len(letters) for name, letters, *_ in entries}
    unknown = found.keys() - lengths.keys()
    if unknown:
        raise ValueError(f"{segments} names sequences that are not in contigs.fa, such as {min(unknown)}")
    return [Contig(lengths[name], spans[0], found.get(name, [])) for name, spans in planted.items()]


def plant(data: Path, folder: Path) -> None:
    """Write contigs.fa and planted.bed."""
    folder.mkdir(parents=True, exist_ok=True)
    contigs = planted_contigs(read_fragments(data), np.random.default_rng(0))
    fasta = "".join(f">{name}\n{letters}\n" for name, letters, *_ in contigs)
    (folder / "contigs.fa").write_text(fasta, encoding="ascii")
    bed = "".join(f"{name}\t{begin}\t{end}\n" for name, _, begin, end in contigs)
    (folder / "planted.bed").write_text(bed, encoding="ascii")


def compare(folder: Path, segments: Path) -> None:
    """Print a line of JSON for each length of planted stretches."""
    contigs = read_contigs(folder, segments)
    for length in STRETCHES:
        own = [c for c in contigs if c.planted[1] - c.planted[0] == length]
        found = sum(bool(c.border_errors) for c in own)
        measures = {
            "found": share(found, len(own)),
            "false segments per Mb of host": over_contigs(own, false_per_mb),
        }
        if found > 0:
            measures["median error of borders, bp"] = over_contigs(own, border_error)
        report = {
            "stretch, bp": length,
            "stretches": len(own),
            "stretches found": found,
            "host, bp": sum(c.host for c in own),
            "false segments": sum(c.false for c in own),
            "of these wholly in host": sum(c.apart for c in own),
            "largest error of a border, bp": max((e for c in own for e in c.border_errors), default=None),
            **{n: [round(v, 3) for v in (e.value, e.low, e.high)] for n, e in measures.items()},
        }
        print(json.dumps(report), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    planting = commands.add_parser("plant", help="write contigs.fa and planted.bed")
    planting.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    planting.add_argument("folder", type=Path)
    comparing = commands.add_parser("compare", help="compare segments with planted.bed")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("segments", type=Path, help="a run's export of the format segments")
    arguments = parser.parse_args()
    if arguments.command == "plant":
        plant(arguments.data, arguments.folder)
    else:
        compare(arguments.folder, arguments.segments)


if __name__ == "__main__":
    main()
