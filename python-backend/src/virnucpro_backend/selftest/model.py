"""Checks whether a model gives the known answers on a device.

Some reading frames with known embeddings and scores go through the installed weights exactly as in a run. The
expected results are in resources/reference-answers.json: for the published models those of the original tool,
for the teaching model stored ones. For any other model the processor computes them in FP32.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import numpy as np
import numpy.typing as npt

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import ALLOWED_SCORE, forbid_hidden_rounding
from virnucpro_backend.inference.failures import part_failure
from virnucpro_backend.inference.loading import open_scorer
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.weights.model_json import ModelDescription, read_model_json

Against = Literal["original_tool", "stored", "processor"]
FloatArray = npt.NDArray[np.float32]

ALLOWED_NORM: dict[Precision, float] = {"fp32": 1e-3, "fp16": 5e-3, "bf16": 2e-2, "fp8": 0.1}
"""The largest relative difference of an embedding's Euclidean norm that rounding can explain, as
ALLOWED_SCORE is for scores. The real weights were not available, so the limits are well above the differences
of random weights of full size (figures in docs/results.md): trained weights have larger outliers. The usual
faults are far beyond them: without token dropout's factor of 0.88 norms are off by 12 %, and with `<eos>` in
the mean most scores change.
"""

_TOKENS_PER_BATCH = 512


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
    against: Against
    source: str
    frames: tuple[KnownFrame, ...]

    def apply_to(self, model: ModelDescription) -> bool:
        """Whether these answers belong to a model."""
        return model.name in self.models and (self.esm2, self.dnabert_s) == (
            Sizes(model.esm2.layers, model.esm2.width),
            Sizes(model.dnabert_s.layers, model.dnabert_s.width),
        )


@dataclass(frozen=True)
class Answers:
    """For f frames: the norms FP32 [f] of each encoder's embeddings, scores FP32 [f, 2], NaN if unknown."""

    esm2: FloatArray
    dnabert_s: FloatArray
    scores: FloatArray


@dataclass(frozen=True)
class PrecisionAnswer:
    """How far a precision is from the known answers: None if nothing was computed or, for scores, if none are
    known. `problem` is a sentence, or None if all is well.
    """

    precision: Precision
    score_difference: float | None
    norm_difference: float | None
    problem: str | None


def read_reference(path: Path) -> list[KnownAnswers]:
    """Read reference-answers.json. The file ships with the program, so a fault in it raises."""
    return msgspec.json.decode(path.read_bytes(), type=list[KnownAnswers])


def check_answers(
    kind: DeviceKind, precisions: Sequence[Precision], folder: Path, reference: Path
) -> dict[str, Any]:
    """Compare a model folder's answers on one kind of device with the known ones.

    Returns `against`, `source`, and `results`: a PrecisionAnswer for each precision. Raises WeightsError if
    the folder is not a model; any fault of the device is reported as a result's `problem`.
    """
    forbid_hidden_rounding()
    model = read_model_json(folder)
    all_known = read_reference(reference)
    known = next((answers for answers in all_known if answers.apply_to(model)), None)
    frames = part_frames((known or all_known[0]).frames)
    try:
        expected = _as_answers(known.frames) if known else compute_answers("cpu", "fp32", folder, frames)
        results = [_checked(kind, precision, folder, frames, expected) for precision in precisions]
    except Exception as error:
        problem = f"The processor could not compute what to compare with. {_sentence(error)}"
        results = [_without_answer(precision, problem) for precision in precisions]
    return {
        "against": known.against if known else "processor",
        "source": known.source if known else "the same model on this computer's processor, in FP32",
        "results": [asdict(result) for result in results],
    }


def part_frames(frames: Sequence[KnownFrame]) -> PartFrames:
    """Convert the frames to the form of a part."""
    residues, residue_offsets = _joined([frame.protein for frame in frames])
    nucleotides, nucleotide_offsets = _joined([frame.nucleotides for frame in frames])
    return PartFrames(residues, residue_offsets, nucleotides, nucleotide_offsets)


def compute_answers(kind: DeviceKind, precision: Precision, folder: Path, frames: PartFrames) -> Answers:
    """Compute a model's answers for frames on a device. Raises LoadFailedError, PartFailedError."""
    scorer = open_scorer(folder, kind, precision, _TOKENS_PER_BATCH, embeddings="fp32")
    scores = scorer.score(frames)
    embeddings = cast(dict[str, FloatArray], scores.embeddings)
    return Answers(
        esm2=np.linalg.norm(embeddings["esm2"], axis=1),
        dnabert_s=np.linalg.norm(embeddings["dnabert_s"], axis=1),
        scores=np.stack((scores.score1, scores.score2), axis=1),
    )


def _checked(
    kind: DeviceKind, precision: Precision, folder: Path, frames: PartFrames, expected: Answers
) -> PrecisionAnswer:
    try:
        answers = compute_answers(kind, precision, folder, frames)
    except Exception as error:  # a driver can fail in any way
        return _without_answer(precision, _sentence(error))
    finally:
        gc.collect()  # Keep only one model in memory at a time.
    return compare(precision, answers, expected)


def compare(precision: Precision, answers: Answers, expected: Answers) -> PrecisionAnswer:
    """Find the largest differences between answers for the same frames; report those beyond rounding."""
    norms = np.abs(
        np.stack((answers.esm2, answers.dnabert_s)) / np.stack((expected.esm2, expected.dnabert_s)) - 1
    )
    has_scores = np.isfinite(expected.scores)
    scores = np.abs(answers.scores - expected.scores)[has_scores]
    # The comparison is written so that NaN counts as wrong, too.
    wrong = [
        f"{what} differ by up to {float(difference.max()):.2g}; {allowed:g} is allowed"
        for what, difference, allowed in (
            ("Norms of embeddings", norms, ALLOWED_NORM[precision]),
            ("Scores", scores, ALLOWED_SCORE[precision]),
        )
        if difference.size and not (difference <= allowed).all()
    ]
    return PrecisionAnswer(
        precision,
        score_difference=_number(scores),
        norm_difference=_number(norms),
        problem=". ".join(wrong) + "." if wrong else None,
    )


def _number(differences: FloatArray) -> float | None:
    """The largest difference; None if there are none or one is NaN, which JSON cannot express."""
    largest = float(differences.max()) if differences.size else float("nan")
    return largest if np.isfinite(largest) else None


def _without_answer(precision: Precision, problem: str) -> PrecisionAnswer:
    return PrecisionAnswer(precision, None, None, problem)


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, LoadFailedError) else part_failure(error).message


def _as_answers(frames: Sequence[KnownFrame]) -> Answers:
    scores = [
        (np.nan if f.score1 is None else f.score1, np.nan if f.score2 is None else f.score2) for f in frames
    ]
    return Answers(
        esm2=np.array([frame.esm2_norm for frame in frames], np.float32),
        dnabert_s=np.array([frame.dnabert_s_norm for frame in frames], np.float32),
        scores=np.array(scores, np.float32),
    )


def _joined(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    letters = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    return letters, np.cumsum([0, *map(len, texts)], dtype=np.int64)
