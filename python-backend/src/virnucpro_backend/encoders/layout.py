"""Where each sequence of a batch begins and ends in the flat [tokens, width] hidden state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


@dataclass(frozen=True)
class SequenceLayout:
    """The n sequences of one batch, laid end to end without padding; T tokens in total.

    `cu_seqlens` int32 [n + 1] and `positions` int32 [T] (a token's position in its sequence, from 0) are on
    the device; `lengths` (tokens per sequence) stays on the host, so that reading it never waits.
    """

    cu_seqlens: Tensor
    positions: Tensor
    lengths: tuple[int, ...]
    max_length: int
    n_tokens: int
    equal_length: int | None
    """The length all sequences share, or None."""

    @property
    def n_sequences(self) -> int:
        """Number of sequences, dummies included."""
        return len(self.lengths)

    def stretches(self) -> Iterator[tuple[slice, int]]:
        """Neighbours of one length: where their tokens are, and the length."""
        begin = 0
        for length, group in groupby(self.lengths):
            end = begin + length * sum(1 for _ in group)
            yield slice(begin, end), length
            begin = end

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[int] | npt.NDArray[np.integer], device: torch.device | str
    ) -> SequenceLayout:
        """Build the layout of sequences of these lengths (tokens, at least one each).

        Raises ValueError if there is no sequence or an empty one.
        """
        sizes = np.asarray(lengths, dtype=np.int32)
        if sizes.ndim != 1 or sizes.size == 0 or int(sizes.min()) < 1:
            raise ValueError("a batch needs at least one sequence, and every sequence at least one token")
        ends = np.cumsum(sizes, dtype=np.int64)
        n_sequences, n_tokens = sizes.size, int(ends[-1])
        # cu_seqlens and positions share one array, so that one copy to the device is enough.
        host = np.empty(n_sequences + 1 + n_tokens, dtype=np.int32)
        host[0] = 0
        host[1 : n_sequences + 1] = ends
        host[n_sequences + 1 :] = np.arange(n_tokens) - np.repeat(ends - sizes, sizes)
        on_device = to_device(host, torch.device(device))
        longest, shortest = int(sizes.max()), int(sizes.min())
        return cls(
            cu_seqlens=on_device[: n_sequences + 1],
            positions=on_device[n_sequences + 1 :],
            lengths=tuple(sizes.tolist()),
            max_length=longest,
            n_tokens=n_tokens,
            equal_length=longest if longest == shortest else None,
        )


def to_device(array: npt.NDArray[np.int32], device: torch.device) -> Tensor:
    """Copy an array to a device; to a GPU from pinned memory, so that the copy does not stop the host."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
