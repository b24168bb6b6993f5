"""The parts of both encoders that stay in FP32 whatever the precision of the matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Float32Module(nn.Module):
    """A module that moves to another device with its model but never changes its floating-point type."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Float32Module:
        super()._apply(lambda tensor: tensor.to(fn(tensor).device), recurse)  # type: ignore[no-untyped-call]
        return self


class LayerNorm(Float32Module):
    """The weight and bias FP32 [width] and the epsilon of a layer normalisation; `ops` computes it."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.float32), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(width, dtype=torch.float32), requires_grad=False)
        self.eps = eps


class Embedding(Float32Module):
    """A look-up table FP32 [vocabulary, width]."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(vocabulary, width, dtype=torch.float32), requires_grad=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens int [T] to vectors FP32 [T, width]."""
        return nn.functional.embedding(tokens, self.weight)

    def padded(self) -> Tensor:
        """The table, padded with rows of zeros to a multiple of 16, as matrix products need."""
        return nn.functional.pad(self.weight, (0, 0, 0, -len(self.weight) % 16))


class RotaryTables(NamedTuple):
    """Cosine and sine FP32 [positions, head_dim / 2] of every rotation angle; row 0 is position 0."""

    cos: Tensor
    sin: Tensor


class Scores(NamedTuple):
    """How attention weighs keys: softmax(scale * q k^T - slope * |i - j|) within each sequence.

    `rotary`: rotate q and k first (ESM-2). `alibi_slopes` FP32 [heads]: the linear bias (DNABERT-S).
    """

    scale: float
    rotary: RotaryTables | None = None
    alibi_slopes: Tensor | None = None


class QueriesKeysValues(NamedTuple):
    """q, k and v [T, 3 d] in the run's precision.

    `rotary`: the tables with which attention must still rotate q and k; None if they are already rotated.
    """

    qkv: Tensor
    rotary: RotaryTables | None


class Rotary(Float32Module):
    """Rotary position embedding, half-split layout (Su et al. 2021, arXiv:2104.09864).

    `inv_freq` FP32 [head_dim / 2] belongs to the weights: published ESM-2 files contain it, and other tools
    that read them use the stored numbers, so this class does too. Angles, cosines and sines are FP32: with
    BF16 angles, a cosine at position 170 is already off by up to 0.12.
    """

    inv_freq: Tensor

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        self.register_buffer("inv_freq", inverse_frequencies(head_dim))
        self._tables: RotaryTables | None = None

    def tables(self, n_positions: int) -> RotaryTables:
        """Return tables for at least `n_positions` positions, and keep them for the next call."""
        known = self._tables
        if known is None or len(known.cos) < n_positions or known.cos.device != self.inv_freq.device:
            size = max(256, 1 << (n_positions - 1).bit_length())
            positions = torch.arange(size, dtype=torch.float32, device=self.inv_freq.device)
            angles = torch.outer(positions, self.inv_freq)
            known = self._tables = RotaryTables(angles.cos(), angles.sin())
        return known


def inverse_frequencies(head_dim: int) -> Tensor:
    """10000^(-2i / head_dim) for i in 0 .. head_dim / 2 - 1, FP32."""
    steps = torch.arange(0, head_dim, 2, dtype=torch.float32, device="cpu")
    return 1.0 / (10000 ** (steps / head_dim))
