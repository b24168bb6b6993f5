"""Runs the worker's code over all frames in one precision, and over some parts in other batches."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.head import HEAD_TENSORS, Head
from virnucpro_backend.fidelity.agreement import FrameResults, compare_scores, compare_vectors, joined
from virnucpro_backend.inference.part_file import PartFrames, read_part
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.warm_up import warm_up
from virnucpro_backend.prepare.preparation import prepare_files
from virnucpro_backend.weights.model_folder import LoadedModel

LOGIT_SPREAD = 3.0
"""Standard deviation of the difference of a scaled random head's outputs, about that of trained heads."""


@dataclass(frozen=True)
class BoundedDifference:
    """How far batches of half the size, and parts cut in two, change the frames of some parts: the largest
    difference of a score, and the smallest cosine of an ESM-2 embedding."""

    frames: int
    halved_batches: float
    halved_batches_cosine: float
    bisected_part: float
    bisected_part_cosine: float


@dataclass(frozen=True)
class PrecisionRun:
    """All frames in one precision; `rate` in residues per second, including reading and tokenizing."""

    results: FrameResults
    bounded: BoundedDifference | None
    seconds: float
    rate: float
    code: str


def frames_of(inputs: Sequence[Path], chunk_length: int, residues_per_part: int) -> list[PartFrames]:
    """Return all open reading frames of FASTA or FASTQ files, in parts of about this many residues.

    Raises PrepareError for files that a run would refuse.
    """
    with tempfile.TemporaryDirectory(prefix="virnucpro-fidelity-") as folder:
        parts = prepare_files(inputs, Path(folder) / "work", chunk_length, residues_per_part)
        return [read_part(Path(folder) / part.path, part.sha256, 0, part.frames) for part in parts]


class Measurement:
    """Scores the same frames in several precisions of one model, with one of them on the device at a time.

    With `scaled_head`, the classifier is first fitted to the frames: a random one would give all of them
    nearly the same score.
    """

    def __init__(
        self,
        load: Callable[[Precision], LoadedModel],
        parts: Sequence[PartFrames],
        tokens_per_batch: int,
        bounded_parts: int,
        *,
        scaled_head: bool,
    ) -> None:
        self._load = load
        self._parts = parts
        self._tokens_per_batch = tokens_per_batch
        self._bounded_parts = parts[:bounded_parts]
        self._scaled_head = scaled_head
        self._head: Head | None = None

    def measure(self, precision: Precision) -> PrecisionRun:
        """Score all frames in this precision. The first precision, FP32, fits a scaled head."""
        model = self._load(precision)
        if self._head is not None:
            model = replace(model, head=self._head)
        scorer = self._scorer(model, self._tokens_per_batch)
        warm_up(model)
        started = time.perf_counter()
        results = joined([_scored(scorer, part) for part in self._parts])
        seconds = time.perf_counter() - started
        if self._scaled_head and self._head is None:
            self._head = scaled_head(model.head, results).to(model.device)
            model = replace(model, head=self._head)
            results = _rescored(results, self._head, self._parts, model.device)
        residues = sum(len(part.residues) for part in self._parts)
        code = f"{model.esm2.ops.name}, {model.esm2.attention.name} attention"
        return PrecisionRun(results, self._bounded(model, results), seconds, residues / seconds, code)

    def _bounded(self, model: LoadedModel, all_frames: FrameResults) -> BoundedDifference | None:
        if not self._bounded_parts:
            return None
        halved_scorer = self._scorer(model, max(1, self._tokens_per_batch // 2))
        scorer = self._scorer(model, self._tokens_per_batch)
        halved = joined([_scored(halved_scorer, part) for part in self._bounded_parts])
        halves = [
            part.subset(half)
            for part in self._bounded_parts
            for half in np.array_split(np.arange(part.count), 2)
            if half.size
        ]
        bisected = joined([_scored(scorer, half) for half in halves])
        count = sum(part.count for part in self._bounded_parts)
        expected = FrameResults(
            all_frames.dnabert_s[:count],
            all_frames.esm2[:count],
            all_frames.score1[:count],
            all_frames.score2[:count],
            0,
            0,
        )
        return BoundedDifference(
            count,
            compare_scores(halved, expected).difference_max,
            compare_vectors(halved.esm2, expected.esm2).cosine_min,
            compare_scores(bisected, expected).difference_max,
            compare_vectors(bisected.esm2, expected.esm2).cosine_min,
        )

    def _scorer(self, model: LoadedModel, tokens_per_batch: int) -> PartScorer:
        return PartScorer(model, tokens_per_batch, False, "fp32", load_fp32=lambda device: self._load("fp32"))


def scaled_head(head: Head, results: FrameResults) -> Head:
    """Fit the head to these embeddings, so that it calls half of them virus.

    BatchNorm's running mean and variance become those of the frames, as after training; the output layer is
    scaled to a spread of LOGIT_SPREAD about zero.
    """
    state = {name: head.get_parameter_or_buffer(name).detach().cpu().clone() for name in HEAD_TENSORS}
    x = torch.from_numpy(np.concatenate((results.dnabert_s, results.esm2), axis=1))
    hidden = x @ state["hidden_layer.weight"].T + state["hidden_layer.bias"]
    mean, variance = hidden.mean(dim=0), hidden.var(dim=0).clamp(min=1e-8)
    state["bn1.running_mean"], state["bn1.running_var"] = mean, variance
    logits = ((hidden - mean) / variance.sqrt()).relu() @ state["output_layer.weight"].T
    difference = logits[:, 1] - logits[:, 0]
    scale = LOGIT_SPREAD / difference.std()
    state["output_layer.weight"] *= scale
    middle = difference.median() * scale / 2
    state["output_layer.bias"] = torch.stack((middle, -middle))
    return Head(state)


def _scored(scorer: PartScorer, part: PartFrames) -> FrameResults:
    scores = scorer.score(part)
    assert scores.embeddings is not None
    return FrameResults(
        scores.embeddings["dnabert_s"].astype(np.float32),
        scores.embeddings["esm2"].astype(np.float32),
        scores.score1,
        scores.score2,
        scores.recomputed,
        scores.failed,
    )


def _rescored(
    results: FrameResults, head: Head, parts: Sequence[PartFrames], device: torch.device
) -> FrameResults:
    """Score the same embeddings with another classifier, part by part as the worker does."""
    ends = np.cumsum([part.count for part in parts])[:-1]
    scores = [
        head.score(torch.from_numpy(dnabert_s).to(device), torch.from_numpy(esm2).to(device))
        for dnabert_s, esm2 in zip(
            np.split(results.dnabert_s, ends), np.split(results.esm2, ends), strict=True
        )
    ]
    return replace(
        results,
        score1=np.concatenate([score1.cpu().numpy() for score1, _ in scores]),
        score2=np.concatenate([score2.cpu().numpy() for _, score2 in scores]),
    )
