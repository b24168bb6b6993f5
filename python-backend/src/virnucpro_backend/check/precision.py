"""Measures how much accuracy each precision of a model loses on a device, and judges it."""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.inference.loading import open_scorer
from virnucpro_backend.inference.memory.device_memory import free_cached_memory
from virnucpro_backend.inference.part_file import PartFrames, read_part
from virnucpro_backend.inference.scorer import PartScores
from virnucpro_backend.prepare.preparation import prepare_files
from virnucpro_backend.weights.model_json import read_model_json

Tried = Literal["bf16", "fp16", "fp8"]
MEASURED_IN_ORDER: tuple[Tried, ...] = ("fp16", "bf16", "fp8")
ENCODERS: Mapping[str, Literal["esm2", "dnabert_s"]] = {"ESM-2": "esm2", "DNABERT-S": "dnabert_s"}
_TOKENS_PER_BATCH = 2_048
_RESIDUES_PER_PART = 65_536


MOST_FLIPS = 0.01
"""The share of reading frames whose label may differ from FP32, the same for every precision."""

FloatArray = npt.NDArray[np.float32]
RARE = 0.001
"""The share of frames whose cosine is below the quantile p0.1."""


@dataclass(frozen=True)
class FrameResults:
    """The results of a precision for f frames: pooled embeddings FP32 [f, width] and scores FP32 [f].

    `recomputed` counts the frames that had to be computed again in FP32, `failed` those that were not finite
    even then and are NaN here.
    """

    dnabert_s: FloatArray
    esm2: FloatArray
    score1: FloatArray
    score2: FloatArray
    recomputed: int
    failed: int

    @property
    def is_virus(self) -> npt.NDArray[np.bool_]:
        """The label of each frame."""
        return self.score2 > self.score1


@dataclass(frozen=True)
class VectorAgreement:
    """How far pooled vectors are from their references: the cosine that a thousandth of the frames is below,
    and the error relative to the reference over all frames (Frobenius norms)."""

    cosine_p01: float
    relative_error: float


@dataclass(frozen=True)
class ScoreAgreement:
    """How far scores are from their references: the largest difference of score2, and frames whose label
    differs."""

    difference_max: float
    flips: int
    flip_share: float


@dataclass(frozen=True)
class Verdict:
    """Whether a precision may be used, and why not."""

    offered: bool
    reason: str


def check_precisions(
    kind: DeviceKind, precisions: Sequence[Precision], model_folder: Path, inputs: Sequence[Path]
) -> dict[str, Any]:
    """Score the frames of FASTA or FASTQ files in FP32 and in these precisions, and judge each.

    Returns `frames`; `precisions`: figures and verdict of each; `not_possible`: why others can't be used.
    Raises WeightsError, LoadFailedError (FP32), PrepareError and PartFailedError.
    """
    forbid_hidden_rounding()
    parts = _parts_of(inputs, read_model_json(model_folder).chunk_length)
    results: dict[str, FrameResults] = {}
    measured: dict[str, dict[str, Any]] = {}
    refused: dict[str, str] = {}
    in_order: list[Precision] = ["fp32", *(tried for tried in MEASURED_IN_ORDER if tried in precisions)]
    for precision in in_order:
        try:
            results[precision] = _scored(kind, precision, model_folder, parts)
        except LoadFailedError as error:
            if precision == "fp32":
                raise
            refused[precision] = error.message
            continue
        if precision != "fp32":
            measured[precision] = _compared(results[precision], results["fp32"])
    return {"frames": sum(part.count for part in parts), "precisions": measured, "not_possible": refused}


def judge(scores: ScoreAgreement, failed: int) -> Verdict:
    """Judge a precision by its labels against those of FP32, and by how many frames have no finite result."""
    reasons = []
    if failed:
        reasons.append(f"{failed:,} frames have no finite result")
    if scores.flip_share > MOST_FLIPS:
        reasons.append(
            f"{100 * scores.flip_share:.3f} % of the labels differ from FP32; "
            f"at most {100 * MOST_FLIPS:g} % may"
        )
    return Verdict(not reasons, "; ".join(reasons))


def _parts_of(inputs: Sequence[Path], chunk_length: int) -> list[PartFrames]:
    with tempfile.TemporaryDirectory(prefix="virnucpro-precision-") as name:
        folder = Path(name)
        parts = prepare_files(inputs, folder / "work", chunk_length, _RESIDUES_PER_PART)
        return [read_part(folder / part.path, part.sha256, 0, part.frames) for part in parts]


def _scored(
    kind: DeviceKind, precision: Precision, model_folder: Path, parts: Sequence[PartFrames]
) -> FrameResults:
    scorer = open_scorer(model_folder, kind, precision, _TOKENS_PER_BATCH, embeddings="fp32")
    results = _joined([scorer.score(part) for part in parts])
    device = scorer.device
    del scorer
    gc.collect()  # Keep only one model in memory at a time.
    free_cached_memory(device)
    return results


def _joined(parts: Sequence[PartScores]) -> FrameResults:
    """Join the results of parts that were scored with their embeddings."""
    vectors = [part.embeddings for part in parts if part.embeddings is not None]
    return FrameResults(
        np.concatenate([part["dnabert_s"].astype(np.float32) for part in vectors]),
        np.concatenate([part["esm2"].astype(np.float32) for part in vectors]),
        np.concatenate([part.score1 for part in parts]),
        np.concatenate([part.score2 for part in parts]),
        sum(part.recomputed for part in parts),
        sum(part.failed for part in parts),
    )


def compare_vectors(ours: FloatArray, reference: FloatArray) -> VectorAgreement:
    """Compare [f, width] with [f, width] in FP64. A frame that is not finite makes every figure NaN."""
    a, b = ours.astype(np.float64), reference.astype(np.float64)
    cosine = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return VectorAgreement(
        cosine_p01=float(np.quantile(cosine, RARE)),
        relative_error=float(np.linalg.norm(a - b) / np.linalg.norm(b)),
    )


def compare_scores(ours: FrameResults, reference: FrameResults) -> ScoreAgreement:
    """Compare the scores of the same frames."""
    flips = int(np.count_nonzero(ours.is_virus != reference.is_virus))
    return ScoreAgreement(
        difference_max=float(np.abs(ours.score2.astype(np.float64) - reference.score2).max()),
        flips=flips,
        flip_share=flips / ours.score2.size,
    )


def _compared(ours: FrameResults, reference: FrameResults) -> dict[str, Any]:
    vectors = {
        name: compare_vectors(getattr(ours, field), getattr(reference, field))
        for name, field in ENCODERS.items()
    }
    scores = compare_scores(ours, reference)
    verdict = judge(scores, ours.failed + ours.recomputed)
    return {
        "embeddings": {name: _figures(agreement) for name, agreement in vectors.items()},
        "scores": _figures(scores),
        "recomputed_in_fp32": ours.recomputed,
        "failed": ours.failed,
        "verdict": asdict(verdict),
    }


def _figures(agreement: VectorAgreement | ScoreAgreement) -> dict[str, float | None]:
    """The figures by name; None for what is no number, which JSON can't express."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(agreement).items()}
