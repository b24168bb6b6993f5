from __future__ import annotations

import numpy as np
import pytest

from virnucpro_backend.check.scoring import auroc


def test_auroc_is_the_share_of_correctly_ordered_pairs() -> None:
    random = np.random.default_rng(2)
    positive = random.random(60) < 0.4
    scores = np.round(random.normal(size=60) + positive, 1)  # with ties
    pairs = [(p > n) + (p == n) / 2 for p in scores[positive] for n in scores[~positive]]
    assert auroc(positive, scores) == pytest.approx(float(np.mean(pairs)))
