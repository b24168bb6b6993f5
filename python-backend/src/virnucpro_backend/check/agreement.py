"""Measures how much two results for the same frames differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from virnucpro_backend.inference.scorer import PartScores

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

    @classmethod
    def of(cls, scores: PartScores) -> FrameResults:
        """Take the results of a part that was scored with its embeddings."""
        assert scores.embeddings is not None
        return cls(
            scores.embeddings["dnabert_s"].astype(np.float32),
            scores.embeddings["esm2"].astype(np.float32),
            scores.score1,
            scores.score2,
            scores.recomputed,
            scores.failed,
        )

    @property
    def is_virus(self) -> npt.NDArray[np.bool_]:
        """The label of each frame."""
        return self.score2 > self.score1


def joined(parts: Sequence[FrameResults]) -> FrameResults:
    """Join the results of several parts."""
    return FrameResults(
        np.concatenate([part.dnabert_s for part in parts]),
        np.concatenate([part.esm2 for part in parts]),
        np.concatenate([part.score1 for part in parts]),
        np.concatenate([part.score2 for part in parts]),
        sum(part.recomputed for part in parts),
        sum(part.failed for part in parts),
    )


@dataclass(frozen=True)
class VectorAgreement:
    """How far pooled vectors are from their references: cosines per frame, and the error relative to the
    reference, over all frames (Frobenius norms) and for the worst frame."""

    cosine_min: float
    cosine_p01: float
    cosine_median: float
    relative_error: float
    relative_error_max: float


@dataclass(frozen=True)
class ScoreAgreement:
    """How far scores are from their references: differences of score2, and frames whose label differs."""

    difference_max: float
    difference_p999: float
    flips: int
    flip_share: float


def compare_vectors(ours: FloatArray, reference: FloatArray) -> VectorAgreement:
    """Compare [f, width] with [f, width] in FP64. A frame that is not finite makes every figure NaN."""
    a, b = ours.astype(np.float64), reference.astype(np.float64)
    norm_a, norm_b = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    cosine = (a * b).sum(axis=1) / (norm_a * norm_b)
    error = np.linalg.norm(a - b, axis=1)
    return VectorAgreement(
        cosine_min=float(cosine.min()),
        cosine_p01=float(np.quantile(cosine, RARE)),
        cosine_median=float(np.median(cosine)),
        relative_error=float(np.linalg.norm(error) / np.linalg.norm(norm_b)),
        relative_error_max=float((error / norm_b).max()),
    )


def compare_scores(ours: FrameResults, reference: FrameResults) -> ScoreAgreement:
    """Compare the scores of the same frames."""
    difference = np.abs(ours.score2.astype(np.float64) - reference.score2)
    flips = int(np.count_nonzero(ours.is_virus != reference.is_virus))
    return ScoreAgreement(
        difference_max=float(difference.max()),
        difference_p999=float(np.quantile(difference, 1 - RARE)),
        flips=flips,
        flip_share=flips / len(difference),
    )
