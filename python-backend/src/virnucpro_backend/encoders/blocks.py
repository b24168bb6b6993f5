"""The blocks of a transformer's layers: attention, and the feed-forward network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import nn

Through = TypeVar("Through", bound=Callable[..., object])

BLOCKS_PER_LAYER = 2


@dataclass(frozen=True)
class Block(Generic[Through]):
    """`through` takes a batch through the block, for which it uses the layer's submodules named `modules`."""

    through: Through
    modules: frozenset[str]


class LayerOfBlocks(nn.Module, Generic[Through]):
    """A layer, each of whose submodules belongs to one block."""

    @property
    @abstractmethod
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""

    @abstractmethod
    def blocks(self) -> tuple[Block[Through], Block[Through]]:
        """Return the blocks in the order in which they compute."""


def blocks_of(layers: Iterable[LayerOfBlocks[Through]]) -> Iterator[Through]:
    """Yield what takes a batch through each block of each layer, in order."""
    for layer in layers:
        for block in layer.blocks():
            yield block.through
