"""Assigns the rows of a packed batch to the programs of the attention kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from virnucpro_backend.encoders.layout import to_device

BLOCK = 64
"""Tokens per block: the smallest number for a warp group's matrix instruction."""

MOST_BLOCKS = 3
"""The longest sequence, in blocks, whose keys and scores fit into one program's registers."""


class AttentionWork(NamedTuple):
    """The rows of each program of the attention kernels, on the device.

    short: by number of blocks, int32 [n, 2]: first and end row of each sequence with this many blocks.
    long: int32 [m, 3], one row for every block of queries of the longer sequences: its number within the
    sequence, and the sequence's first and end row; None if there are none.
    """

    short: dict[int, Tensor]
    long: Tensor | None

    @classmethod
    def on_device(cls, lengths: tuple[int, ...], device: torch.device) -> AttentionWork:
        """Assign sequences of these lengths, laid end to end, to the kernel that handles them."""
        sizes = np.asarray(lengths, dtype=np.int64)
        ends = np.cumsum(sizes)
        ranges = np.stack((ends - sizes, ends), axis=1).astype(np.int32)
        blocks = -(-sizes // BLOCK)
        short = {
            count: to_device(np.ascontiguousarray(ranges[blocks == count]), device)
            for count in range(1, MOST_BLOCKS + 1)
            if np.any(blocks == count)
        }
        long = blocks > MOST_BLOCKS
        if not long.any():
            return cls(short, None)
        return cls(short, to_device(_query_blocks(ranges[long], blocks[long]), device))


def _query_blocks(ranges: npt.NDArray[np.int32], blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    nth = np.arange(int(blocks.sum())) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    return np.column_stack((nth, np.repeat(ranges, blocks, axis=0))).astype(np.int32)
