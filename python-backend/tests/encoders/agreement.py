"""The ways to run an encoder, and the largest allowed difference of two results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from virnucpro_backend.encoders.attention import EqualLengthAttention, StretchAttention
from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.tokens import TokenSequences

TOLERANCE = 1e-5
"""The largest difference of a number, as a fraction of its row's norm."""


def as_token_sequences(sequences: list[Tensor], filler: int) -> TokenSequences:
    offsets = np.cumsum([0] + [len(sequence) for sequence in sequences])
    return TokenSequences(torch.cat(sequences).numpy(), offsets, filler)


def run(encoder: Esm2 | DnabertS, sequences: TokenSequences, batches: list[Batch]) -> Tensor:
    """Embed batch by batch; return embeddings in the order of the sequences."""
    out = torch.full((len(sequences.lengths), encoder.config.width), float("nan"))
    for batch in batches:
        layout = SequenceLayout.from_lengths(batch.lengths, "cpu")
        rows = encoder.embed(torch.from_numpy(sequences.of_batch(batch)), layout)
        out[batch.members] = rows[: len(batch.members)]
    return out


def packed(encoder: Esm2 | DnabertS, sequences: TokenSequences) -> Tensor:
    encoder.attention = StretchAttention()
    return run(encoder, sequences, packed_batches(sequences.lengths, 256))


def equal_length(encoder: Esm2 | DnabertS, sequences: TokenSequences) -> Tensor:
    encoder.attention = EqualLengthAttention()
    return run(encoder, sequences, equal_length_batches(sequences.lengths, 256))


def one_by_one(encoder: Esm2 | DnabertS, sequences: TokenSequences) -> Tensor:
    encoder.attention = EqualLengthAttention()
    alone = [Batch(np.array([i]), np.array([n])) for i, n in enumerate(sequences.lengths)]
    return run(encoder, sequences, alone)


WAYS: list[Callable[[Esm2 | DnabertS, TokenSequences], Tensor]] = [packed, equal_length, one_by_one]


def worst_difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest absolute difference in units of the reference row's norm."""
    norms = theirs.double().norm(dim=-1, keepdim=True)
    return float(((ours.double() - theirs.double()).abs() / norms).max())
