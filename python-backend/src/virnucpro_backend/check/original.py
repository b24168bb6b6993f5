"""Compares a model's answers for some reading frames with those of the original tool.

resources/reference-answers.json has them for the published models, from a run of the original with its real
weights (tests/data/original_run). They go through the installed weights exactly as in a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.precision import ALLOWED_SCORE
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.weights.model_json import ModelDescription

ALLOWED_NORM: dict[Precision, float] = {"fp32": 1e-3, "fp16": 5e-3, "bf16": 2e-2, "fp8": 0.1}
"""The largest relative difference of an embedding's Euclidean norm that rounding can explain, as
ALLOWED_SCORE is for scores. The real weights were not available, so the limits are well above the differences
of random weights of full size: trained weights have larger outliers. The usual faults are far beyond them:
without token dropout's factor of 0.88 norms are off by 12 %, and with `<eos>` in the mean most scores change.
"""


class Sizes(msgspec.Struct, frozen=True):
    """The numbers that identify an encoder's size."""

    layers: int
    width: int


class KnownFrame(msgspec.Struct, frozen=True):
    """A reading frame and its expected results: Euclidean norms, and scores if they are known."""

    id: str
    nucleotides: str
    protein: str
    esm2_norm: float
    dnabert_s_norm: float
    score1: float | None
    score2: float | None


class KnownAnswers(msgspec.Struct, frozen=True):
    """The answers of models with these names and sizes. `source` says where they come from."""

    models: tuple[str, ...]
    esm2: Sizes
    dnabert_s: Sizes
    source: str
    frames: tuple[KnownFrame, ...]

    def apply_to(self, model: ModelDescription) -> bool:
        """Whether these answers belong to a model."""
        return model.name in self.models and (self.esm2, self.dnabert_s) == (
            Sizes(model.esm2.layers, model.esm2.width),
            Sizes(model.dnabert_s.layers, model.dnabert_s.width),
        )


@dataclass(frozen=True)
class Difference:
    """A difference from a known answer, and the largest that rounding can explain."""

    difference: float
    allowed: float

    @property
    def is_wrong(self) -> bool:
        """Whether rounding cannot explain it."""
        return self.difference > self.allowed


def read_answers(resources: Path) -> list[KnownAnswers]:
    """Read reference-answers.json. The file ships with the program, so a fault in it raises."""
    content = (resources / "reference-answers.json").read_bytes()
    return msgspec.json.decode(content, type=list[KnownAnswers])


def compare_with_original(
    known: KnownAnswers, scorer: PartScorer, precision: Precision
) -> dict[str, Difference]:
    """Score the frames with a scorer that keeps FP32 embeddings. Return the largest difference of a `norm`
    and, if scores are known, of a `score`. Raises PartFailedError."""
    scores = scorer.score(part_frames(known.frames))
    embeddings = cast(dict[str, npt.NDArray[np.float32]], scores.embeddings)
    norms = np.array([np.linalg.norm(embeddings[name], axis=1) for name in ("esm2", "dnabert_s")])
    expected_norms = np.array([[f.esm2_norm for f in known.frames], [f.dnabert_s_norm for f in known.frames]])
    expected = np.array([[f.score1, f.score2] for f in known.frames], np.float64)
    found = np.stack((scores.score1, scores.score2), axis=1)
    differences = {"norm": Difference(largest(norms / expected_norms - 1), ALLOWED_NORM[precision])}
    if np.isfinite(expected).any():
        score = largest((found - expected)[np.isfinite(expected)])
        differences["score"] = Difference(score, ALLOWED_SCORE[precision])
    return differences


def part_frames(frames: Sequence[KnownFrame]) -> PartFrames:
    """Convert the frames to the form of a part."""
    residues, residue_offsets = _joined([frame.protein for frame in frames])
    nucleotides, nucleotide_offsets = _joined([frame.nucleotides for frame in frames])
    return PartFrames(residues, residue_offsets, nucleotides, nucleotide_offsets)


def largest(differences: npt.NDArray[np.floating]) -> float:
    """The largest absolute difference; 1 for one that is no number, which JSON can't express."""
    return float(np.nan_to_num(np.abs(differences), nan=1.0).max())


def _joined(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    letters = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    return letters, np.cumsum([0, *map(len, texts)], dtype=np.int64)
