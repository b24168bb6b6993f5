"""The table that people read and the JSON that programs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from virnucpro_backend.fidelity.agreement import (
    FrameResults,
    ScoreAgreement,
    VectorAgreement,
    compare_scores,
    compare_vectors,
)
from virnucpro_backend.fidelity.measure import PrecisionRun
from virnucpro_backend.fidelity.verdict import Verdict

ENCODERS = {"ESM-2": "esm2", "DNABERT-S": "dnabert_s"}


@dataclass(frozen=True)
class Comparison:
    """A precision beside a reference: both encoders' vectors, and the scores."""

    vectors: Mapping[str, VectorAgreement]
    scores: ScoreAgreement


def compare(ours: FrameResults, reference: FrameResults) -> Comparison:
    """Compare results of the same frames."""
    return Comparison(
        {
            name: compare_vectors(getattr(ours, field), getattr(reference, field))
            for name, field in ENCODERS.items()
        },
        compare_scores(ours, reference),
    )


def run_json(
    run: PrecisionRun, comparisons: Mapping[str, Comparison], verdict: Verdict | None
) -> dict[str, Any]:
    """One precision for the file; `comparisons` by the reference's name."""
    return {
        "code": run.code,
        "seconds": round(run.seconds, 2),
        "residues_per_second": round(run.rate, 1),
        "recomputed_in_fp32": run.results.recomputed,
        "failed": run.results.failed,
        "against": {
            name: {
                "embeddings": {encoder: asdict(figures) for encoder, figures in comparison.vectors.items()},
                "scores": asdict(comparison.scores),
            }
            for name, comparison in comparisons.items()
        },
        "bounded_parts": None if run.bounded is None else asdict(run.bounded),
        "verdict": None if verdict is None else asdict(verdict),
    }


HEADER = (
    f"{'precision':<10}{'against':<9}{'encoder':<11}{'cosine min':>12}{'p0.1':>11}{'median':>11}"
    f"{'rel. error':>12}{'worst':>10}{'score diff':>12}{'flips':>16}"
)


def table_lines(precision: str, against: str, comparison: Comparison) -> list[str]:
    """A line per encoder; the first also has the scores."""
    lines: list[str] = []
    for encoder, figures in comparison.vectors.items():
        line = (
            f"{precision:<10}{against:<9}{encoder:<11}{figures.cosine_min:>12.7f}{figures.cosine_p01:>11.7f}"
            f"{figures.cosine_median:>11.7f}{figures.relative_error:>12.2e}{figures.relative_error_max:>10.1e}"
        )
        if not lines:
            scores = comparison.scores
            flips = f"{scores.flips:,} ({100 * scores.flip_share:.3f} %)"
            line += f"{scores.difference_max:>12.2e}{flips:>16}"
        lines.append(line)
    return lines


def bounded_line(precision: str, run: PrecisionRun) -> str:
    """What other batches change."""
    if run.bounded is None:
        return f"{precision:<10}not measured"
    bounded = run.bounded
    return (
        f"{precision:<10}{bounded.frames:>8,} frames   halved batches {bounded.halved_batches:.2e}"
        f"   bisected part {bounded.bisected_part:.2e}"
    )
