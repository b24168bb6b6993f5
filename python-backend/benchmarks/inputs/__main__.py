"""`python -m benchmarks.inputs reads|contigs --from FASTA... -o FILE`: make a benchmark's input.

It samples from both strands of the given sequences, with substitutions, and prints how many reading frames
and distinct proteins prepare will find. The same files, numbers and seed give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.inputs.sampling import draw_lengths, draw_pieces, with_copies
from benchmarks.inputs.sources import read_sources
from benchmarks.inputs.tally import Tally, fasta_text
from virnucpro_backend.prepare.failures import PrepareError


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file; return the exit code."""
    arguments = _parser().parse_args(argv)
    random = np.random.RandomState(arguments.seed)
    if arguments.kind == "reads":
        lengths = np.full(arguments.count, arguments.length, np.int64)
    else:
        lengths = draw_lengths(arguments.count, arguments.shortest, arguments.longest, random)
    tally = Tally(arguments.chunk_length)
    try:
        sources = read_sources(arguments.sources)
        with open(arguments.output, "wb") as out:
            for pieces in draw_pieces(sources, lengths, arguments.substitutions, random):
                if arguments.copies > 0:
                    pieces = with_copies(pieces, arguments.copies, random)
                out.write(fasta_text(pieces, tally.records + 1, arguments.kind[:-1]))
                tally.add(pieces)
    except (PrepareError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    _report(tally.summary(), arguments.output, arguments.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inputs", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    reads = kinds.add_parser("reads", help="reads of one length")
    reads.add_argument("--length", type=int, default=150, help="bases of a read (default 150)")
    contigs = kinds.add_parser("contigs", help="contigs of many lengths")
    contigs.add_argument("--shortest", type=int, default=1000, help="bases (default 1000)")
    contigs.add_argument("--longest", type=int, default=10_000, help="bases (default 10000)")
    for kind in (reads, contigs):
        kind.add_argument("--from", dest="sources", type=Path, nargs="+", required=True, metavar="FASTA")
        kind.add_argument("--count", type=int, required=True, help="sequences to make")
        kind.add_argument("--seed", type=int, default=1)
        kind.add_argument("--substitutions", type=float, default=0.02, help="share of bases (default 0.02)")
        kind.add_argument("--copies", type=float, default=0.0, help="share that is copied (default 0)")
        kind.add_argument("--chunk-length", type=int, default=500, help="for counting frames (default 500)")
        kind.add_argument("--json", action="store_true", help="print the counts as one JSON object")
        kind.add_argument("-o", "--output", type=Path, required=True)
    return parser


def _report(counts: dict[str, int | float], path: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps(counts))
        return
    records, frames = counts["records"], counts["frames"]
    print(
        f"{path}: {records:,} sequences, {counts['bases']:,} bases, {counts['substitutions']:,} of them "
        f"substituted\n{frames:,} open reading frames ({frames / max(1, records):.3f} per sequence) in "
        f"{counts['chunks']:,} chunks, {counts['residues']:,} residues\n"
        f"{counts['distinct_proteins']:,} distinct proteins "
        f"({100 * counts['distinct_share']:.2f} % of the frames)"
    )


if __name__ == "__main__":
    sys.exit(main())
