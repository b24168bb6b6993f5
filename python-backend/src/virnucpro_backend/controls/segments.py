"""Stretches of a long sequence that look viral: the most likely path of two states along its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SWITCH = 0.01
"""Probability that the state changes from one chunk to the next."""
SUREST = 0.95
"""A single chunk's score counts as no surer than this: a chunk alone makes no stretch."""


@dataclass(frozen=True)
class Segment:
    """Chunks `first` to `last`, both with a score."""

    first: int
    last: int


def viral_segments(scores: Sequence[float] | npt.NDArray[np.float64]) -> list[Segment]:
    """Viral-looking stretches of one sequence from its chunk scores in order, NaN for a chunk without one.

    A chunk without a score says nothing for either state. A stretch is cut back to chunks with a score. What
    lies on the boundary is not known better than half a chunk.
    """
    values = np.asarray(scores, np.float64)
    known = np.isfinite(values)
    if not known.any():
        return []
    p = np.clip(np.where(known, values, 0.5), 1 - SUREST, SUREST)
    evidence = np.log(np.stack((1 - p, p)))
    stay, switch = np.log(1 - SWITCH), np.log(SWITCH)
    best, came_from = evidence[:, 0], np.zeros((2, values.size), np.int64)
    for chunk in range(1, values.size):
        keep, change = best + stay, best[::-1] + switch
        came_from[:, chunk] = np.where(keep >= change, (0, 1), (1, 0))
        best = np.maximum(keep, change) + evidence[:, chunk]
    # Equally likely: other.
    state = int(best[1] > best[0])
    path = np.zeros(values.size, np.bool_)
    for chunk in range(values.size - 1, -1, -1):
        path[chunk] = state == 1
        state = int(came_from[state, chunk])
    segments = []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], path.astype(np.int8), [0]))))
    for begin, end in edges.reshape(-1, 2).tolist():
        scored = np.flatnonzero(known[begin:end]) + begin
        if scored.size:
            segments.append(Segment(int(scored[0]), int(scored[-1])))
    return segments
