"""Running the worker's own code over all frames in one precision, and over parts in other batches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from virnucpro_backend.encoders.head import Head
from virnucpro_backend.fidelity.agreement import FrameResults, compare_scores, compare_vectors, joined
from virnucpro_backend.fidelity.source import WeightSource, with_head
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.starting.warm_up import warm_up
from virnucpro_backend.weights.model_folder import LoadedModel


@dataclass(frozen=True)
class BoundedDifference:
    """What batches of half the size, and parts cut in two, change: largest difference of a score over the
    frames of some parts, and the smallest cosine of an ESM-2 embedding."""

    frames: int
    halved_batches: float
    halved_batches_cosine: float
    bisected_part: float
    bisected_part_cosine: float


@dataclass(frozen=True)
class PrecisionRun:
    """All frames in one precision; `rate` in residues per second, reading and tokenizing included."""

    results: FrameResults
    bounded: BoundedDifference | None
    seconds: float
    rate: float
    code: str


class Measurement:
    """Scores the same frames with models of one source. One model is on the device at a time."""

    def __init__(
        self, source: WeightSource, parts: Sequence[PartFrames], tokens_per_batch: int, bounded_parts: int
    ) -> None:
        self._source = source
        self._parts = parts
        self._tokens_per_batch = tokens_per_batch
        self._bounded_parts = parts[:bounded_parts]
        self._head: Head | None = None

    def reference(self) -> PrecisionRun:
        """All frames in FP32. To be called first: it also settles the classifier for all precisions."""
        model = self._source.load("fp32")
        first = self.run(model)
        self._head = self._source.head_for(model, first.results.dnabert_s, first.results.esm2)
        final = with_head(model, self._head)
        results = _rescored(first.results, self._head, self._parts, model.device)
        return replace(first, results=results, bounded=self._bounded(final, results))

    def measured(self, model: LoadedModel) -> PrecisionRun:
        """All frames with another model of the same weights. Raises RuntimeError before `reference`."""
        if self._head is None:
            raise RuntimeError("the reference comes first")
        model = with_head(model, self._head)
        run = self.run(model)
        return replace(run, bounded=self._bounded(model, run.results))

    def run(self, model: LoadedModel) -> PrecisionRun:
        """All frames with this model as it is."""
        scorer = self._scorer(model, self._tokens_per_batch)
        warm_up(model)
        started = time.perf_counter()
        results = joined([_scored(scorer, part) for part in self._parts])
        seconds = time.perf_counter() - started
        residues = sum(len(part.residues) for part in self._parts)
        code = f"{model.esm2.ops.name}, {model.esm2.attention.name} attention"
        return PrecisionRun(results, None, seconds, residues / seconds, code)

    def _bounded(self, model: LoadedModel, whole: FrameResults) -> BoundedDifference | None:
        if not self._bounded_parts:
            return None
        halved_scorer = self._scorer(model, max(1, self._tokens_per_batch // 2))
        scorer = self._scorer(model, self._tokens_per_batch)
        halved, bisected = [], []
        for part in self._bounded_parts:
            halved.append(_scored(halved_scorer, part))
            for half in np.array_split(np.arange(part.count), 2):
                if half.size:
                    bisected.append(_scored(scorer, part.subset(half)))
        count = sum(part.count for part in self._bounded_parts)
        expected = FrameResults(
            whole.dnabert_s[:count], whole.esm2[:count], whole.score1[:count], whole.score2[:count], 0, 0
        )
        return BoundedDifference(
            count,
            compare_scores(joined(halved), expected).difference_max,
            compare_vectors(joined(halved).esm2, expected.esm2).cosine_min,
            compare_scores(joined(bisected), expected).difference_max,
            compare_vectors(joined(bisected).esm2, expected.esm2).cosine_min,
        )

    def _scorer(self, model: LoadedModel, tokens_per_batch: int) -> PartScorer:
        return PartScorer(
            model=model,
            tokens_per_batch=tokens_per_batch,
            embed_equal_sequences_once=False,
            embeddings="fp32",
            load_fp32=lambda device: self._source.load("fp32"),
        )


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
    """The same embeddings with the scores of another classifier, part by part as the worker scores them."""
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
