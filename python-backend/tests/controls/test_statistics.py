"""Areas and intervals match their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from virnucpro_backend.controls.statistics import auroc, auroc_with_interval, share


def by_pairs(positive: np.ndarray, scores: np.ndarray) -> float:
    pairs = [(p > n) + (p == n) / 2 for p in scores[positive] for n in scores[~positive]]
    return float(np.mean(pairs))


def test_auroc_is_the_share_of_correctly_ordered_pairs() -> None:
    random = np.random.default_rng(2)
    positive = random.random(60) < 0.4
    scores = np.round(random.normal(size=60) + positive, 1)  # with ties
    assert auroc(positive, scores) == pytest.approx(by_pairs(positive, scores))
    assert auroc_with_interval(positive, scores).value == pytest.approx(by_pairs(positive, scores))


@pytest.mark.parametrize("shift", [0.5, 2.0])
def test_the_interval_has_about_its_nominal_coverage(shift: float) -> None:
    random = np.random.default_rng(4)
    positive = np.arange(60) < 30
    # The probability that the difference of draws from two normal distributions is above 0.
    truth = 0.5 * (1 + math.erf(shift / 2))
    held = 0
    for _ in range(400):
        interval = auroc_with_interval(positive, random.normal(size=60) + shift * positive)
        held += interval.low <= truth <= interval.high
    assert 0.9 <= held / 400 <= 0.985


def test_a_share_without_exceptions_is_not_certain() -> None:
    estimate = share(20, 20)
    assert estimate.value == estimate.high == 1
    assert estimate.low == pytest.approx(0.8389, abs=1e-4)  # Wilson's interval, as in tables


def test_perfect_separation_is_not_certain() -> None:
    positive = np.arange(40) < 20
    estimate = auroc_with_interval(positive, positive.astype(float))
    assert estimate.value == 1
    assert estimate.low < 0.9
