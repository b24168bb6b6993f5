"""Groups sequences into batches for an encoder, as pure functions of the lengths and the token budget.

All lengths are in tokens, special tokens included. Nothing here depends on a device or on earlier batches, so
the same part and plan always give the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

MIN_ROWS = 16
"""For fewer rows, the library may compute a matrix product in another way, with other rounding."""

ROUND_TO = 16
"""Packed batches of a GPU are filled up to a multiple of this, as FP8 products need."""


@dataclass(frozen=True)
class Batch:
    """`members`: indices of the sequences, in batch order. `lengths`: the number of tokens of each, then of
    each dummy sequence that fills up the batch; the dummies' results, which come last, are dropped."""

    members: IntArray
    lengths: IntArray

    @property
    def n_tokens(self) -> int:
        """Tokens of all sequences, dummies included."""
        return int(self.lengths.sum())


def equal_length_batches(
    lengths: npt.ArrayLike, tokens_per_batch: int, min_rows: int = MIN_ROWS
) -> list[Batch]:
    """Make batches of sequences of exactly equal length, longest first.

    A batch holds at most `tokens_per_batch` tokens (but at least one sequence), and dummy sequences of the
    same length if it would have fewer than `min_rows` tokens. Batches of one length have about equal size.
    """
    sizes = _checked(lengths, tokens_per_batch)
    batches = []
    for length in np.unique(sizes)[::-1]:
        members = np.flatnonzero(sizes == length)
        per_batch = max(1, tokens_per_batch // int(length))
        for part in np.array_split(members, -(-len(members) // per_batch)):
            n_sequences = max(len(part), -(-min_rows // int(length)))
            batches.append(Batch(part, np.full(n_sequences, length)))
    return batches


def packed_batches(lengths: npt.ArrayLike, tokens_per_batch: int, round_to: int = ROUND_TO) -> list[Batch]:
    """Make batches of sequences of any length, longest first, each with about the same number of tokens.

    With k batches, the k-th part of all tokens goes to each, so that there is no small batch at the end; k is
    the smallest number at which none exceeds `tokens_per_batch` (one sequence at least). Dummy sequences,
    none longer than the batch's longest, then fill each up to a multiple of `round_to` tokens, and MIN_ROWS.
    """
    sizes = _checked(lengths, tokens_per_batch)
    if sizes.size == 0:
        return []
    order = np.argsort(-sizes, kind="stable")
    ends = np.cumsum(sizes[order])
    return [
        Batch(order[begin:end], _filled_up(sizes[order[begin:end]], round_to))
        for begin, end in _even_cuts(ends, tokens_per_batch)
    ]


def _even_cuts(ends: IntArray, budget: int) -> Iterator[tuple[int, int]]:
    """Cut sequences that end at the tokens `ends` into the fewest even parts within the budget."""
    total, n_sequences = int(ends[-1]), len(ends)
    for n_parts in range(-(-total // budget), n_sequences + 1):
        marks = np.arange(1, n_parts + 1) * total // n_parts
        cuts = np.unique(np.concatenate(([0], np.searchsorted(ends, marks, side="right"))))
        tokens = np.diff(np.concatenate(([0], ends))[cuts])
        if np.all((tokens <= budget) | (np.diff(cuts) == 1)):
            return zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    return zip(range(n_sequences), range(1, n_sequences + 1), strict=True)


def _filled_up(lengths: IntArray, round_to: int) -> IntArray:
    tokens = int(lengths.sum())
    missing = max(-tokens % round_to, MIN_ROWS - tokens)
    whole, rest = divmod(missing, int(lengths.max()))
    dummies = [int(lengths.max())] * whole + ([rest] if rest else [])
    return np.concatenate((lengths, np.array(dummies, dtype=np.int64)))


def _checked(lengths: npt.ArrayLike, tokens_per_batch: int) -> IntArray:
    sizes = np.asarray(lengths, dtype=np.int64)
    if tokens_per_batch < 1 or (sizes.size and int(sizes.min()) < 1):
        raise ValueError("lengths and tokens_per_batch must be positive")
    return sizes
