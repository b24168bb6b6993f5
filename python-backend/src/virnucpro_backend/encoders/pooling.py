"""From token vectors to one vector per sequence, in FP32, in an order that does not vary."""

from __future__ import annotations

import torch
from torch import Tensor

from virnucpro_backend.encoders.layout import SequenceLayout


def segment_mean(
    x: Tensor, layout: SequenceLayout, *, skip_first: int = 0, skip_last: int = 0, at_most: int | None = None
) -> Tensor:
    """Mean over the tokens of each sequence: x FP32 [T, d] to FP32 [n, d].

    The first `skip_first` and last `skip_last` tokens of every sequence are left out, and of the rest only
    the first `at_most` count. A sequence with no token left gives zeros.
    """
    kept = [max(0, length - skip_first - skip_last) for length in layout.lengths]
    if at_most is not None:
        kept = [min(count, at_most) for count in kept]
    if layout.equal_length is not None:
        tokens = x.view(layout.n_sequences, layout.equal_length, -1)[:, skip_first : skip_first + kept[0]]
        return tokens.sum(dim=1) / max(kept[0], 1)

    # Three segments per sequence, before, kept and after, of which the middle one is wanted: no copy of x.
    # One thread adds up a segment from its first token to its last, so that the order never varies.
    segments = [
        (skip_first, count, length - skip_first - count) if length > skip_first else (length, 0, 0)
        for count, length in zip(kept, layout.lengths, strict=True)
    ]
    lengths = torch.tensor(segments, dtype=torch.int64).view(-1).to(x.device, non_blocking=True)
    sums = torch.segment_reduce(x, "sum", lengths=lengths, axis=0, unsafe=True, initial=0.0)
    counts = lengths.view(-1, 3)[:, 1:2].clamp(min=1)
    return sums.view(layout.n_sequences, 3, -1)[:, 1] / counts
