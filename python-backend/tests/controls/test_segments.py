"""Viral-looking stretches against all paths of two states."""

from __future__ import annotations

import itertools
import math

import numpy as np

from virnucpro_backend.controls.segments import SUREST, SWITCH, Segment, viral_segments

NAN = math.nan


def likelihood(path: tuple[int, ...], scores: list[float]) -> float:
    total = sum(math.log(SWITCH if a != b else 1 - SWITCH) for a, b in itertools.pairwise(path))
    for state, score in zip(path, scores, strict=True):
        p = 0.5 if math.isnan(score) else min(max(score, 1 - SUREST), SUREST)
        total += math.log(p if state else 1 - p)
    return total


def by_all_paths(scores: list[float]) -> list[Segment]:
    path = max(itertools.product((0, 1), repeat=len(scores)), key=lambda path: likelihood(path, scores))
    segments = []
    for state, group in itertools.groupby(range(len(scores)), key=lambda chunk: path[chunk]):
        scored = [chunk for chunk in group if not math.isnan(scores[chunk])]
        if state and scored:
            segments.append(Segment(scored[0], scored[-1]))
    return segments


def test_the_path_is_the_most_likely_of_all() -> None:
    random = np.random.default_rng(8)
    found = 0
    for _ in range(150):
        length = int(random.integers(1, 11))
        scores = np.where(random.random(length) < 0.3, random.random(length), random.random() < 0.5)
        scores = np.where(random.random(length) < 0.25, NAN, scores + random.normal(0, 0.02, length))
        assert viral_segments(scores) == by_all_paths(scores.tolist())
        found += len(by_all_paths(scores.tolist()))
    assert found > 20


def test_a_phage_inside_a_genome() -> None:
    scores = [0.1] * 10 + [0.9, NAN, 0.95, 0.3, 0.9, 0.9, 0.9, NAN] + [0.05] * 10
    assert viral_segments(scores) == [Segment(10, 16)]


def test_one_sure_chunk_is_no_stretch() -> None:
    assert viral_segments([0.2] * 5 + [1.0] + [0.2] * 5) == []
    assert viral_segments([NAN] * 4) == []
    assert viral_segments([]) == []
