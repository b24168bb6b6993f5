"""Areas under ROC curves and proportions, each with its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

NORMAL_95 = 1.959963984540054
"""95 % of a normal distribution lies within this many standard deviations of its mean."""


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


def auroc(positive: BoolArray, scores: FloatArray) -> float:
    """Area under the ROC curve: how often a positive scores higher than a negative; ties count half."""
    ranks = _middle_ranks(scores)
    n = int(positive.sum())
    m = positive.size - n
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def auroc_with_interval(positive: BoolArray, scores: FloatArray) -> Estimate:
    """AUROC with DeLong's interval (DeLong et al. 1988, doi:10.2307/2531595), on the logit scale.

    On the plain scale the interval of an area near 1 would reach beyond 1. Raises ValueError if either class
    has fewer than two.
    """
    n = int(positive.sum())
    m = positive.size - n
    if min(n, m) < 2:
        raise ValueError("an interval needs at least two sequences of either class")
    ranks = _middle_ranks(scores)
    # `above`: for each positive, the share of negatives below it; `below`: for each negative, that above it.
    above = (ranks[positive] - _middle_ranks(scores[positive])) / m
    below = 1 - (ranks[~positive] - _middle_ranks(scores[~positive])) / n
    area = float(above.mean())
    error = math.sqrt(above.var(ddof=1) / n + below.var(ddof=1) / m)
    if error == 0 or not 0 < area < 1:
        # All pairs agree: by the rule of three, n + m sequences without an exception still allow this much.
        slack = min(1.0, 3 / min(n, m))
        return Estimate(area, max(0.0, area - slack), min(1.0, area + slack))
    logit, width = math.log(area / (1 - area)), NORMAL_95 * error / (area * (1 - area))
    return Estimate(area, _expit(logit - width), _expit(logit + width))


def share(count: int, total: int) -> Estimate:
    """Return count / total with Wilson's interval."""
    if total == 0:
        return Estimate(math.nan, 0.0, 1.0)
    p, z2 = count / total, NORMAL_95**2
    middle = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = NORMAL_95 * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


def _middle_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
