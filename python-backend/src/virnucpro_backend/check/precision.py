"""Measures how much accuracy each precision of a model loses on a device, and judges it."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from virnucpro_backend.check.result import CheckResult, Verdict
from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.inference.loading import open_scorer
from virnucpro_backend.inference.memory.device_memory import free_cached_memory
from virnucpro_backend.inference.part_file import PartFrames, read_part
from virnucpro_backend.inference.scorer import PartScores
from virnucpro_backend.prepare.preparation import prepare_files
from virnucpro_backend.weights.model_json import read_model_json

MOST_FLIPS = 0.01
"""The share of reading frames whose label may differ from FP32, the same for every precision."""
_TOKENS_PER_BATCH = 2_048
_RESIDUES_PER_PART = 65_536


@dataclass(frozen=True)
class Agreement:
    """How far scores are from FP32: the largest difference of score2, and frames whose label differs, or that
    had to be computed again in FP32 or are not finite even so (`failed`)."""

    difference_max: float
    flips: int
    flip_share: float
    failed: int


def check_precisions(
    kind: DeviceKind, precisions: Sequence[Precision], model_folder: Path, inputs: Sequence[Path]
) -> list[CheckResult]:
    """Score the frames of FASTA or FASTQ files in FP32 and in these precisions, and judge each.

    Raises WeightsError, LoadFailedError (FP32), PrepareError and PartFailedError.
    """
    forbid_hidden_rounding()
    parts = _parts_of(inputs, read_model_json(model_folder).chunk_length)
    frames = sum(part.count for part in parts)
    reference = _scored(kind, "fp32", model_folder, parts)
    results = []
    for precision in precisions:
        if precision == "fp32":
            continue
        try:
            found = compare(_scored(kind, precision, model_folder, parts), reference)
        except LoadFailedError as error:
            results.append(CheckResult(precision, "no_answer", None, error.message))
        else:
            figures = {"frames": frames, **asdict(found)}
            results.append(CheckResult(precision, judge(found), figures))
    return results


def judge(found: Agreement) -> Verdict:
    """Judge a precision by its labels against those of FP32, and by how many frames have no finite result."""
    if found.failed:
        return "no_answer"
    return "works" if found.flip_share <= MOST_FLIPS else "differs"


def _parts_of(inputs: Sequence[Path], chunk_length: int) -> list[PartFrames]:
    with tempfile.TemporaryDirectory(prefix="virnucpro-precision-") as name:
        folder = Path(name)
        parts = prepare_files(inputs, folder / "work", chunk_length, _RESIDUES_PER_PART)
        return [read_part(folder / part.path, part.sha256, 0, part.frames) for part in parts]


def _scored(
    kind: DeviceKind, precision: Precision, model_folder: Path, parts: Sequence[PartFrames]
) -> list[PartScores]:
    scorer = open_scorer(model_folder, kind, precision, _TOKENS_PER_BATCH)
    scores = [scorer.score(part) for part in parts]
    device = scorer.device
    del scorer
    gc.collect()  # Keep only one model in memory at a time.
    free_cached_memory(device)
    return scores


def compare(ours: Sequence[PartScores], reference: Sequence[PartScores]) -> Agreement:
    """Compare the scores of the same parts."""
    score1, score2 = (
        np.stack([np.concatenate([getattr(part, name) for part in parts]) for parts in (ours, reference)])
        for name in ("score1", "score2")
    )
    is_virus = score2 > score1
    flips = int(np.count_nonzero(is_virus[0] != is_virus[1]))
    return Agreement(
        difference_max=float(np.nan_to_num(np.abs(score2[0] - score2[1]), nan=1.0).max()),
        flips=flips,
        flip_share=flips / is_virus.shape[1],
        failed=sum(part.failed + part.recomputed for part in ours),
    )
