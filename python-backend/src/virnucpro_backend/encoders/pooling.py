"""Averages token vectors to one vector per sequence, in FP32 and in a fixed order."""

from __future__ import annotations

import torch
from torch import Tensor

from virnucpro_backend.encoders.layout import SequenceLayout


def segment_mean(
    x: Tensor, layout: SequenceLayout, *, skip_first: int = 0, skip_last: int = 0, at_most: int | None = None
) -> Tensor:
    """Average the tokens of each sequence: x FP32 [T, d] to FP32 [n, d].

    The first `skip_first` and last `skip_last` tokens of every sequence are left out, and only the first
    `at_most` of the others count. A sequence with no token left gives zeros.
    """
    if layout.equal_length is not None:
        kept = max(0, layout.equal_length - skip_first - skip_last)
        kept = kept if at_most is None else min(kept, at_most)
        tokens = x.view(layout.n_sequences, layout.equal_length, -1)[:, skip_first : skip_first + kept]
        return tokens.sum(dim=1) / max(kept, 1)

    # Reduce three segments per sequence (before, kept, after) and use the middle one, to avoid copying x.
    # One thread adds up a segment from its first token to its last, so that the order never varies. The
    # lengths are computed on the device: sending them from the host would wait for all queued work.
    lengths = layout.cu_seqlens.long().diff()
    before = lengths.clamp(max=skip_first)
    counts = (lengths - skip_first - skip_last).clamp(min=0, max=at_most)
    segments = torch.stack((before, counts, lengths - before - counts), dim=1).view(-1)
    sums = torch.segment_reduce(x, "sum", lengths=segments, axis=0, unsafe=True, initial=0.0)
    return sums.view(layout.n_sequences, 3, -1)[:, 1] / counts.clamp(min=1)[:, None]
