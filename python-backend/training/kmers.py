"""Logistic regression on the k-mers of a sequence, as a baseline for comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

SIZES = (4, 6)


def kmer_features(sequences: Sequence[str]) -> Tensor:
    """Square roots of the shares of k-mers on both strands, FP32 [sequences, features]."""
    codes = np.full(256, 0, np.int64)
    codes[np.frombuffer(b"ACGT", np.uint8)] = np.arange(4)
    blocks = []
    for size in SIZES:
        place = _place_of_pairs(size)
        block = np.zeros((len(sequences), place.max() + 1), np.float32)
        for row, sequence in enumerate(sequences):
            letters = codes[np.frombuffer(sequence.encode("ascii"), np.uint8)]
            kmer = np.zeros(len(letters) - size + 1, np.int64)
            for shift in range(size):
                kmer = 4 * kmer + letters[shift : shift + len(kmer)]
            counts = np.bincount(place[kmer], minlength=block.shape[1])
            block[row] = np.sqrt(counts / counts.sum())
        blocks.append(block)
    return torch.from_numpy(np.concatenate(blocks, axis=1))


def _place_of_pairs(size: int) -> npt.NDArray[np.int64]:
    """Give every k-mer a number that it shares with its reverse complement."""
    kmer = np.arange(4**size)
    reverse, rest = np.zeros_like(kmer), kmer.copy()
    for _ in range(size):
        reverse, rest = 4 * reverse + 3 - rest % 4, rest // 4
    return np.unique(np.minimum(kmer, reverse), return_inverse=True)[1]


class KmerRegression:
    """A regression with a quadratic penalty `1 / (2 * strength)` on the weights, as in scikit-learn."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def fit(self, features: Tensor, virus: npt.NDArray[np.bool_]) -> KmerRegression:
        """Find the weights."""
        goal = torch.from_numpy(virus.astype(np.float32))
        self.mean = features.mean(0)
        centred = features - self.mean
        self.weight = torch.zeros(features.shape[1], requires_grad=True)
        self.bias = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.LBFGS([self.weight, self.bias], max_iter=150, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            optimizer.zero_grad()
            logits = centred @ self.weight + self.bias
            total = F.binary_cross_entropy_with_logits(logits, goal, reduction="sum")
            total = total + self.weight.square().sum() / (2 * self.strength)
            total.backward()  # type: ignore[no-untyped-call]
            return total

        optimizer.step(loss)  # type: ignore[no-untyped-call]
        return self

    def scores(self, features: Tensor) -> npt.NDArray[np.float64]:
        """Logits of sequences."""
        with torch.no_grad():
            logits = (features - self.mean) @ self.weight + self.bias
        scores: npt.NDArray[np.float64] = logits.double().numpy()
        return scores
