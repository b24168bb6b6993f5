"""The whole measurement: one precision after the other, judged as they come."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.nvidia import check_capability
from virnucpro_backend.fidelity.agreement import FrameResults
from virnucpro_backend.fidelity.conditions import conditions
from virnucpro_backend.fidelity.int8 import Products, products, to_int8
from virnucpro_backend.fidelity.measure import Measurement, PrecisionRun
from virnucpro_backend.fidelity.report import HEADER, Comparison, bounded_line, compare, run_json, table_lines
from virnucpro_backend.fidelity.source import WeightSource
from virnucpro_backend.fidelity.verdict import (
    Tried,
    Verdict,
    default_precision,
    judge,
    judge_int8,
    recommend,
    verdict_words,
)
from virnucpro_backend.inference.memory.device_memory import free_cached_memory
from virnucpro_backend.inference.part_file import PartFrames

Say = Callable[[str], None]

MODULE = "virnucpro_backend.fidelity"


@dataclass(frozen=True)
class Panel:
    """What is to be measured, with which weights, on which frames, where."""

    source: WeightSource
    device: torch.device
    inputs: Sequence[Path]
    parts: Sequence[PartFrames]
    precisions: Sequence[Precision]
    tokens_per_batch: int
    bounded_parts: int
    try_int8: bool


class _Judgement:
    """Collects runs, and holds each against the reference that its rule names."""

    def __init__(self, reference: FrameResults) -> None:
        self._references = {"fp32": reference}
        self.runs: dict[str, dict[str, Any]] = {}
        self.verdicts: dict[Tried, Verdict] = {}
        self.lines: list[str] = []

    def take(self, precision: Tried, run: PrecisionRun) -> Verdict:
        comparisons = {name: compare(run.results, results) for name, results in self._references.items()}
        if precision == "fp16":
            self._references["fp16"] = run.results
        judged_by = "fp16" if precision in ("fp8", "int8") and "fp16" in comparisons else "fp32"
        decisive = comparisons[judged_by]
        failed = run.results.failed + run.results.recomputed
        verdict = judge(precision, judged_by, decisive.vectors, decisive.scores, failed)
        shown: dict[str, Comparison] = {"fp32": comparisons["fp32"], judged_by: decisive}
        for name, comparison in shown.items():
            self.lines += table_lines(precision, name, comparison)
        self.runs[precision] = run_json(run, shown, verdict)
        self.verdicts[precision] = verdict
        return verdict


def measure_panel(panel: Panel, say: Say) -> dict[str, Any]:
    """Measure all of it, telling how it goes on and printing the table; returns the content of the file.

    Raises WeightsError and PartFailedError.
    """
    n_frames = sum(part.count for part in panel.parts)
    n_residues = sum(len(part.residues) for part in panel.parts)
    what = f"{panel.source.title}{f' ({panel.source.notice})' if panel.source.notice else ''}"
    say(f"{what}; {n_frames:,} frames, {n_residues:,} residues in {len(panel.parts)} parts")

    measurement = Measurement(panel.source, panel.parts, panel.tokens_per_batch, panel.bounded_parts)
    reference = measurement.reference()
    say(_progress("fp32", reference))
    _free(panel.device)
    judgement = _Judgement(reference.results)
    refused: dict[str, str] = {}
    bounded = [bounded_line("fp32", reference)]
    for precision in panel.precisions:
        assert precision != "fp32"
        if reason := _not_possible(panel.device, precision):
            refused[precision] = reason
            continue
        run = measurement.measured(panel.source.load(precision))
        say(_progress(precision, run))
        judgement.take(precision, run)
        bounded.append(bounded_line(precision, run))
        _free(panel.device)

    int8 = _int8(panel, measurement, judgement, say) if panel.try_int8 else None
    default = default_precision(_capability(panel.device))
    # Runs on a processor are in FP32: half precision is slower there, not faster.
    settled = panel.source.settles_it and panel.device.type == "cuda"
    recommended = recommend(judgement.verdicts) if settled else default
    for line in ("", HEADER, *judgement.lines, "", "Parts that are equal only within a tolerance:", *bounded):
        say(line)
    say("")
    for tried, verdict in judgement.verdicts.items():
        say(f"{tried:<10}{verdict_words(tried, verdict)}")
    for name, reason in refused.items():
        say(f"{name:<10}refused: {reason}")
    if panel.source.settles_it:
        say(f"\nUse {recommended} with this model on this device.")
    else:
        say(f"\nWhich precision to use can't be settled with these weights. The default here is {default}.")
    return {
        **conditions(MODULE, panel.device),
        "model": {"title": panel.source.title, "notice": panel.source.notice},
        "settles_it": panel.source.settles_it,
        "chunk_lengths": list(panel.source.chunk_lengths),
        "inputs": [path.name for path in panel.inputs],
        "frames": n_frames,
        "residues": n_residues,
        "tokens_per_batch": panel.tokens_per_batch,
        "precisions": {"fp32": run_json(reference, {}, None), **judgement.runs},
        "not_possible": refused,
        "int8_products": None if int8 is None else asdict(int8),
        "recommended": recommended,
    }


def _int8(panel: Panel, measurement: Measurement, judgement: _Judgement, say: Say) -> Products | None:
    """Try INT8 where there is a GPU to try it on."""
    if panel.device.type != "cuda" or _not_possible(panel.device, "bf16"):
        return None
    model = panel.source.load("bf16")
    measured = products(model.esm2.config, panel.tokens_per_batch, panel.device)
    to_int8(model.esm2)
    run = measurement.measured(model)
    say(_progress("int8", run))
    fidelity = judgement.take("int8", run)
    verdict = judge_int8(fidelity, measured)
    judgement.verdicts["int8"] = verdict
    judgement.runs["int8"]["verdict"] = asdict(verdict)
    say(
        f"INT8 trial: a layer's products alone run at {measured.bf16:,.0f} (BF16), "
        f"{_or_none(measured.fp8)} (FP8), {_or_none(measured.int8)} (INT8) and "
        f"{_or_none(measured.int8_with_scaling)} (INT8 with plain scaling) TOP/s"
    )
    del model
    _free(panel.device)
    return measured


def _capability(device: torch.device) -> tuple[int, int] | None:
    if device.type != "cuda":
        return None
    properties = torch.cuda.get_device_properties(device)
    return properties.major, properties.minor


def _or_none(rate: float | None) -> str:
    return "none" if rate is None else f"{rate:,.0f}"


def _progress(precision: str, run: PrecisionRun) -> str:
    again = f", {run.results.recomputed:,} frames recomputed in FP32" if run.results.recomputed else ""
    return f"  {precision}: {run.seconds:.1f} s, {run.rate:,.0f} residues/s ({run.code}){again}"


def _not_possible(device: torch.device, precision: Precision) -> str | None:
    """Why a device can't compute in a precision; None if it can."""
    if device.type == "cpu":
        return "it needs an NVIDIA GPU of compute capability 8.9 or more" if precision == "fp8" else None
    properties = torch.cuda.get_device_properties(device)
    try:
        check_capability(properties.name, (properties.major, properties.minor), precision)
    except LoadFailedError as error:
        return error.message
    return None


def _free(device: torch.device) -> None:
    gc.collect()
    free_cached_memory(device)
