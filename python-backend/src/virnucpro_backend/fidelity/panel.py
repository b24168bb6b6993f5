"""Runs the full measurement: computes, compares, judges and reports one precision after the other."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.devices.opening import LoadFailedError, check_capability
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.fidelity.agreement import (
    FrameResults,
    ScoreAgreement,
    VectorAgreement,
    compare_scores,
    compare_vectors,
)
from virnucpro_backend.fidelity.conditions import conditions
from virnucpro_backend.fidelity.measure import Measurement, PrecisionRun, frames_of
from virnucpro_backend.fidelity.random_model import RANDOM_MODEL
from virnucpro_backend.fidelity.verdict import (
    Tried,
    Verdict,
    default_precision,
    describe_verdict,
    judge,
    recommend,
)
from virnucpro_backend.inference.memory.device_memory import free_cached_memory
from virnucpro_backend.weights.model_folder import load_model
from virnucpro_backend.weights.model_json import read_model_json

ENCODERS = {"ESM-2": "esm2", "DNABERT-S": "dnabert_s"}
MEASURED_IN_ORDER: tuple[Tried, ...] = ("fp16", "bf16", "fp8")
"""FP16 comes before FP8, which is compared with it."""
HEADER = (
    f"{'precision':<10}{'against':<9}{'encoder':<11}{'cosine min':>12}{'p0.1':>11}{'median':>11}"
    f"{'rel. error':>12}{'worst':>10}{'score diff':>12}{'flips':>16}"
)
BOUNDED_PARTS = 2
"""Parts that are scored also in halved batches and in two halves."""
UNTRAINED = (
    "These are not trained weights, and what they show does not settle which precision to use: trained "
    "weights are harsher on half precision and FP8, because some of their activations are far larger than "
    "the rest."
)


@dataclass(frozen=True)
class Panel:
    """What to measure, with which model and frames. `device`: cuda or cpu, None for the first GPU if there is
    one; `chunk_lengths`: None for the model's own."""

    model: Path
    inputs: Sequence[Path]
    device: str | None
    chunk_lengths: Sequence[int] | None
    precisions: Sequence[Precision]
    tokens_per_batch: int
    residues_per_part: int


@dataclass(frozen=True)
class Comparison:
    """A precision beside a reference: both encoders' vectors, and the scores."""

    vectors: Mapping[str, VectorAgreement]
    scores: ScoreAgreement


def compare(ours: FrameResults, reference: FrameResults) -> Comparison:
    """Compare results for the same frames."""
    vectors = {
        name: compare_vectors(getattr(ours, field), getattr(reference, field))
        for name, field in ENCODERS.items()
    }
    return Comparison(vectors, compare_scores(ours, reference))


def measure_panel(panel: Panel, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything, report progress and print the table; return the content of the JSON file.

    Raises PrepareError, WeightsError and PartFailedError.
    """
    device = _device(panel.device)
    model = read_model_json(panel.model)
    chunk_lengths = panel.chunk_lengths or [model.chunk_length]
    parts = [
        part
        for chunk_length in chunk_lengths
        for part in frames_of(panel.inputs, chunk_length, panel.residues_per_part)
    ]
    frames, residues = sum(part.count for part in parts), sum(len(part.residues) for part in parts)
    title = f"{model.title} ({model.notice})" if model.notice else model.title
    say(f"{title}; {frames:,} frames, {residues:,} residues in {len(parts)} parts")

    measurement = Measurement(
        lambda precision: load_model(panel.model, device, precision, mapped=device.type == "cpu"),
        parts,
        panel.tokens_per_batch,
        BOUNDED_PARTS,
        scaled_head=model.name == RANDOM_MODEL,
    )
    reference = measurement.measure("fp32")
    say(_progress("fp32", reference))
    references = {"fp32": reference.results}
    runs: dict[str, dict[str, Any]] = {"fp32": _run_json(reference, {}, None)}
    verdicts: dict[Tried, Verdict] = {}
    refused: dict[str, str] = {}
    table: list[str] = []
    bounded = [_bounded_line("fp32", reference)]
    for precision in (tried for tried in MEASURED_IN_ORDER if tried in panel.precisions):
        if reason := _not_possible(device, precision):
            refused[precision] = reason
            continue
        gc.collect()
        free_cached_memory(device)
        run = measurement.measure(precision)
        say(_progress(precision, run))
        judged_by = "fp16" if precision == "fp8" and "fp16" in references else "fp32"
        against = dict.fromkeys(("fp32", judged_by))
        comparisons = {name: compare(run.results, references[name]) for name in against}
        if precision == "fp16":
            references["fp16"] = run.results
        decisive = comparisons[judged_by]
        failed = run.results.failed + run.results.recomputed
        verdicts[precision] = judge(precision, judged_by, decisive.vectors, decisive.scores, failed)
        runs[precision] = _run_json(run, comparisons, verdicts[precision])
        table += [line for name, each in comparisons.items() for line in _table_lines(precision, name, each)]
        bounded.append(_bounded_line(precision, run))

    trained = model.notice is None  # Only models without biological meaning have a notice.
    default = default_precision(_capability(device))
    # Runs on a processor use FP32, because half precision is slower there.
    recommended = recommend(verdicts) if trained and device.type == "cuda" else default
    for line in ("", HEADER, *table, "", "Parts that are equal only within a tolerance:", *bounded, ""):
        say(line)
    for tried, verdict in verdicts.items():
        say(f"{tried:<10}{describe_verdict(tried, verdict)}")
    for name, reason in refused.items():
        say(f"{name:<10}refused: {reason}")
    say(
        f"\nUse {recommended} with this model on this device."
        if trained
        else f"\n{UNTRAINED} The default here is {default}."
    )
    return {
        **conditions("virnucpro_backend.selftest", device),
        "model": {"title": model.title, "notice": model.notice},
        "settles_it": trained,
        "chunk_lengths": list(chunk_lengths),
        "inputs": [path.name for path in panel.inputs],
        "frames": frames,
        "residues": residues,
        "tokens_per_batch": panel.tokens_per_batch,
        "precisions": runs,
        "not_possible": refused,
        "recommended": recommended,
    }


def _device(kind: str | None) -> torch.device:
    if (kind or ("cuda" if torch.cuda.is_available() else "cpu")) == "cuda":
        return torch.device("cuda", 0)
    torch.set_num_threads(1)  # as the worker does
    return torch.device("cpu")


def _capability(device: torch.device) -> tuple[int, int] | None:
    if device.type != "cuda":
        return None
    properties = torch.cuda.get_device_properties(device)
    return properties.major, properties.minor


def _not_possible(device: torch.device, precision: Precision) -> str | None:
    """The reason why a device can't compute in a precision; None if it can."""
    capability = _capability(device)
    if capability is None:
        return "it needs an NVIDIA GPU of compute capability 8.9 or more" if precision == "fp8" else None
    try:
        check_capability(torch.cuda.get_device_name(device), capability, precision)
    except LoadFailedError as error:
        return error.message
    return None


def _run_json(
    run: PrecisionRun, comparisons: Mapping[str, Comparison], verdict: Verdict | None
) -> dict[str, Any]:
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


def _progress(precision: str, run: PrecisionRun) -> str:
    again = f", {run.results.recomputed:,} frames recomputed in FP32" if run.results.recomputed else ""
    return f"  {precision}: {run.seconds:.1f} s, {run.rate:,.0f} residues/s ({run.code}){again}"


def _table_lines(precision: str, against: str, comparison: Comparison) -> list[str]:
    """Make one line per encoder; the first also has the scores."""
    lines = [
        f"{precision:<10}{against:<9}{encoder:<11}{figures.cosine_min:>12.7f}{figures.cosine_p01:>11.7f}"
        f"{figures.cosine_median:>11.7f}{figures.relative_error:>12.2e}{figures.relative_error_max:>10.1e}"
        for encoder, figures in comparison.vectors.items()
    ]
    flips = f"{comparison.scores.flips:,} ({100 * comparison.scores.flip_share:.3f} %)"
    lines[0] += f"{comparison.scores.difference_max:>12.2e}{flips:>16}"
    return lines


def _bounded_line(precision: str, run: PrecisionRun) -> str:
    if run.bounded is None:
        return f"{precision:<10}not measured"
    bounded = run.bounded
    return (
        f"{precision:<10}{bounded.frames:>8,} frames   halved batches {bounded.halved_batches:.2e}"
        f"   bisected part {bounded.bisected_part:.2e}"
    )
