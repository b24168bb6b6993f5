"""What both encoders share: layers of two blocks, attention and the feed-forward network, and how batches go
through them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

import torch
from torch import Tensor, nn

Through = TypeVar("Through", bound=Callable[..., object])
Layer = TypeVar("Layer", bound="LayerOfBlocks[Any]")

BLOCKS_PER_LAYER = 2


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes of an encoder."""

    layers: int
    width: int
    heads: int
    feed_forward: int

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads


@dataclass(frozen=True)
class Block(Generic[Through]):
    """`through` takes a batch through the block, for which it uses the layer's submodules named `modules`."""

    through: Through
    modules: frozenset[str]


class LayerOfBlocks(nn.Module, Generic[Through]):
    """A layer, each of whose submodules belongs to one block."""

    qkv: nn.Module

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return cast(Tensor, self.qkv.weight).dtype

    @abstractmethod
    def blocks(self) -> tuple[Block[Through], Block[Through]]:
        """Return the blocks in the order in which they compute."""


class Layers(Protocol):
    """The layers of an encoder in order, wherever their weights are."""

    streamed: bool
    """Whether the weights are in main memory and are copied to the device layer by layer."""

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        ...

    def __len__(self) -> int: ...

    def blocks(self) -> Iterator[Any]:
        """Yield what takes a batch through each block of each layer, valid until the next is requested."""
        ...


class ResidentLayers(nn.ModuleList, Generic[Layer]):
    """Layers that are all on the device."""

    streamed = False

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        dtype: torch.dtype = next(iter(self)).dtype
        return dtype

    def __iter__(self) -> Iterator[Layer]:
        return cast(Iterator[Layer], super().__iter__())

    def blocks(self) -> Iterator[Any]:
        """See `Layers.blocks`."""
        return blocks_of(self)


def blocks_of(layers: Iterable[LayerOfBlocks[Through]]) -> Iterator[Through]:
    """Yield what takes a batch through each block of each layer, in order."""
    for layer in layers:
        for block in layer.blocks():
            yield block.through
