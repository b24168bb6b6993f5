"""Measures how much accuracy each precision of a model loses on a device, and judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from virnucpro_backend.check.original import largest
from virnucpro_backend.check.result import CheckResult, Verdict
from virnucpro_backend.check.scoring import ScoredSequences, score_sequences
from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision

MOST_FLIPS = 0.01
"""The share of reading frames whose label may differ from FP32, the same for every precision."""


@dataclass(frozen=True)
class Agreement:
    """How far scores are from FP32: the largest difference of score2, and frames whose label differs, or that
    had to be computed again in FP32 or are not finite even so (`failed`)."""

    frames: int
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
    reference = score_sequences(inputs, model_folder, kind, "fp32")
    results = []
    for precision in precisions:
        if precision == "fp32":
            continue
        try:
            found = compare(score_sequences(inputs, model_folder, kind, precision), reference)
        except LoadFailedError as error:
            results.append(CheckResult(precision, "no_answer", None, error.detail))
        else:
            results.append(CheckResult(precision, judge(found), asdict(found)))
    return results


def judge(found: Agreement) -> Verdict:
    """Judge a precision by its labels against those of FP32, and by how many frames have no finite result."""
    if found.failed:
        return "no_answer"
    return "works" if found.flip_share <= MOST_FLIPS else "differs"


def compare(ours: ScoredSequences, reference: ScoredSequences) -> Agreement:
    """Compare the scores of the same frames."""
    score1, score2 = np.stack((ours.scores, reference.scores)).transpose(2, 0, 1)
    is_virus = score2 > score1
    frames, flips = is_virus.shape[1], int(np.count_nonzero(is_virus[0] != is_virus[1]))
    difference = largest(score2[0] - score2[1])
    return Agreement(frames, difference, flips, flips / frames, ours.failed + ours.recomputed)
