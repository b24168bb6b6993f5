"""How well scores separate two classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def auroc(positive: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> float:
    """How often a positive scores higher than a negative (area under the ROC curve); ties count half."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    # From 1; equal values share the mean of their ranks.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    n = int(positive.sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (positive.size - n)))
