"""`python -m benchmarks.rounding`: how far each precision moves scores of frames, and which calls it turns.

Reads of 150 bp from the example and the controls are scored in FP32 on the processor, then in every precision
of each device. The margin of a read is the difference of its largest P(virus) and P(others) over its frames:
a precision that moves no score by more than d turns no call with a margin above 2d. Prints JSON objects, one
a line.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.conditions import conditions
from benchmarks.predict.inputs import bench_input
from virnucpro_backend.check.scoring import ScoredSequences, score_sequences
from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.weights.model_json import read_model_json

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "resources"
SOURCES = (RESOURCES / "example.fa", RESOURCES / "controls" / "500.fa")
STATED = ROOT / "electron" / "contract" / "evidence.ts"
PRECISIONS: tuple[Precision, ...] = ("fp32", "fp16", "bf16", "fp8")


def margins(scored: ScoredSequences) -> npt.NDArray[np.float64]:
    """The margin of every read, negative for the call `others` and NaN without a frame, [chunks]."""
    score1, score2 = scored.most_decided.astype(np.float64).T
    signed: npt.NDArray[np.float64] = score2 - score1
    return signed


def compare(reference: ScoredSequences, scored: ScoredSequences, limit: float) -> dict[str, object]:
    """Compare a precision with the reference. A call whose margin is within the limit is marked."""
    expected, found = margins(reference), margins(scored)
    moved = np.abs(scored.scores - reference.scores)
    turned = (found >= 0) != (expected >= 0)
    marked = np.abs(found) <= limit
    return {
        "frame_moved_by": float(moved.max()),
        "frame_moved_by_p999": float(np.quantile(moved, 0.999)),
        "score_moved_by": float(np.nanmax(np.abs(scored.chunk_scores - reference.chunk_scores))),
        "calls_turned": int(turned.sum()),
        "largest_margin_of_these": float(np.abs(found)[turned].max(initial=0)),
        "limit": limit,
        "marked": int(marked.sum()),
        "turned_and_not_marked": int((turned & ~marked).sum()),
        "failed_frames": scored.failed,
    }


def stated_limit(model: Path, precision: Precision) -> float:
    """The margin up to which the program calls reads of this model undecided."""
    row = "teaching" if read_model_json(model).name == "teaching" else "others"
    stated = re.search(rf"  {row}: .*?{precision}: ([0-9.e-]+)", STATED.read_text(encoding="utf-8"))
    assert stated is not None
    return float(stated[1])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rounding", description=__doc__)
    parser.add_argument("--model", type=Path, default=RESOURCES / "teaching-model")
    parser.add_argument("--from", dest="sources", type=Path, nargs="+", default=SOURCES, metavar="FASTA")
    parser.add_argument("--count", type=int, default=10_000, help="reads to make (default 10000)")
    arguments = parser.parse_args(argv)
    kinds: list[DeviceKind] = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    with tempfile.TemporaryDirectory() as folder:
        reads = bench_input(Path(folder), "reads", arguments.count, arguments.sources)
        reference = score_sequences([reads], arguments.model, "cpu", "fp32")
        counts = {
            "reads": len(reference.headers),
            "scored": int(np.isfinite(margins(reference)).sum()),
            "frames": len(reference.scores),
        }
        device = torch.device(kinds[-1])
        print(json.dumps(conditions("benchmarks.rounding", device) | counts), flush=True)
        for kind in kinds:
            for precision in PRECISIONS:
                measured: dict[str, object] = {"device": kind, "precision": precision}
                try:
                    scored = score_sequences([reads], arguments.model, kind, precision)
                    measured |= compare(reference, scored, stated_limit(arguments.model, precision))
                except LoadFailedError as error:
                    measured["not_possible"] = error.detail
                print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main()
