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
    if x.device.type == "cpu" or layout.equal_length is not None:
        # By itself each stretch of a packed batch gives the same bits as in any other batch.
        means = [
            _mean_of_equal(x[where].view(-1, length, x.shape[-1]), skip_first, skip_last, at_most)
            for where, length in layout.stretches()
        ]
        return means[0] if len(means) == 1 else torch.cat(means)
    return segment_reduced_mean(x, layout, skip_first, skip_last, at_most)


def _mean_of_equal(x: Tensor, skip_first: int, skip_last: int, at_most: int | None) -> Tensor:
    """Sequences of one length, FP32 [n, length, d] to FP32 [n, d]."""
    kept = max(0, x.shape[1] - skip_first - skip_last)
    kept = kept if at_most is None else min(kept, at_most)
    return x[:, skip_first : skip_first + kept].sum(dim=1) / max(kept, 1)


def segment_reduced_mean(
    x: Tensor, layout: SequenceLayout, skip_first: int, skip_last: int, at_most: int | None
) -> Tensor:
    """See `segment_mean`; one operation for any lengths, so that a GPU does not wait for the host."""
    # Three segments per sequence, before, kept and after, of which the middle one is wanted: no copy of x.
    # One thread adds up a segment from its first token to its last, so that the order never varies. The
    # lengths are computed on the device: sending them from the host would wait for all queued work.
    lengths = layout.cu_seqlens.long().diff()
    before = lengths.clamp(max=skip_first)
    counts = (lengths - skip_first - skip_last).clamp(min=0, max=at_most)
    segments = torch.stack((before, counts, lengths - before - counts), dim=1).view(-1)
    sums = torch.segment_reduce(x, "sum", lengths=segments, axis=0, unsafe=True, initial=0.0)
    return sums.view(layout.n_sequences, 3, -1)[:, 1] / counts.clamp(min=1)[:, None]
