"""Tests with the demo model what a frame's score may depend on."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_parts import random_frames

from virnucpro_backend.inference.scorer import PartScorer, PartScores

MakeScorer = Callable[..., PartScorer]
TOLERANCE = 2e-6
"""The largest difference seen between two ways of batching is about 2e-7; scores are between 0 and 1."""


def assert_same_bytes(a: PartScores, b: PartScores) -> None:
    assert a.score1.tobytes() == b.score1.tobytes()
    assert a.score2.tobytes() == b.score2.tobytes()
    assert a.state.tobytes() == b.state.tobytes()


def test_each_frame_gets_its_own_score(make_scorer: MakeScorer) -> None:
    frames = random_frames(60, seed=3)
    scorer = make_scorer(embeddings="fp32")
    together = scorer.score(frames)
    alone = [scorer.score(frames.subset(np.array([i]))) for i in range(frames.count)]
    np.testing.assert_allclose(together.score1, [s.score1[0] for s in alone], atol=TOLERANCE)
    np.testing.assert_allclose(together.score2, [s.score2[0] for s in alone], atol=TOLERANCE)
    np.testing.assert_allclose(together.score1 + together.score2, 1, atol=1e-6)
    assert together.state.tolist() == [0] * 60
    assert np.unique(together.score2).size == 60  # so that mixed-up frames would be noticed
    assert together.embeddings is not None
    for name, width in (("dnabert_s", 64), ("esm2", 64)):
        rows = np.stack([s.embeddings[name][0] for s in alone if s.embeddings])
        assert together.embeddings[name].shape == (60, width)
        np.testing.assert_allclose(together.embeddings[name], rows, atol=1e-5)


def test_scores_depend_only_on_the_part_and_the_plan(make_scorer: MakeScorer) -> None:
    frames = random_frames(80, seed=4)
    first = make_scorer()
    result = first.score(frames)
    assert_same_bytes(result, first.score(frames))
    second = make_scorer()
    for seed in (5, 6):
        second.score(random_frames(50, seed))
    assert_same_bytes(result, second.score(frames))


@pytest.mark.parametrize("tokens_per_batch", [1, 300, 1_000_000])
def test_other_batches_agree_within_the_tolerance(make_scorer: MakeScorer, tokens_per_batch: int) -> None:
    frames = random_frames(50, seed=7)
    a, b = make_scorer().score(frames), make_scorer(tokens_per_batch=tokens_per_batch).score(frames)
    np.testing.assert_allclose(a.score2, b.score2, atol=TOLERANCE)


def test_frames_of_a_second_look_are_scored_by_its_own_head(make_scorer: MakeScorer) -> None:
    frames = random_frames(40, seed=8)
    scorer = make_scorer()
    other = deepcopy(scorer.model.head)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.neg_()
    first = scorer.score(frames)
    alone = make_scorer(model=replace(scorer.model, head=other)).score(frames)
    marked = replace(frames, of_second_look=True)
    # A run with one classifier has no second head: it judges both looks.
    assert_same_bytes(first, scorer.score(marked))
    both = make_scorer(model=replace(scorer.model, second_head=other))
    assert_same_bytes(alone, both.score(marked))
    assert_same_bytes(first, both.score(frames))
    assert np.any(alone.score2 != first.score2)
    assert marked.subset(np.array([3, 0])).of_second_look


def test_a_part_without_frames_can_be_scored(make_scorer: MakeScorer) -> None:
    empty = random_frames(3, seed=9).subset(np.arange(0))
    result = make_scorer(embeddings="fp16").score(empty)
    assert len(result.score1) == len(result.state) == 0
    assert result.embeddings is not None
    assert result.embeddings["esm2"].shape == (0, 64)


def test_uses_one_thread_and_full_precision_sums(make_scorer: MakeScorer) -> None:
    make_scorer()
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    assert not torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
