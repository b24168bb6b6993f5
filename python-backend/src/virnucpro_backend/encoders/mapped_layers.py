"""Layers whose weights stay in their file, for CPUs.

The file is mapped into memory, so that all workers of a computer share one copy of it in the system's page
cache, in the 16 bits in which ESM-2 was published. A block's weights are converted to the run's precision,
which for FP32 is exact, when it is its turn: into memory that all blocks share, or, where that makes products
faster, into a copy that is packed and freed. All batches of a part of usual size go through a block
together, so that each part has every block converted once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import accumulate
from typing import Generic

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.blocks import LayerOfBlocks, Through
from virnucpro_backend.encoders.packed_linear import pack_linears, packing_is_faster

ALIGNMENT = 64
"""Every tensor begins at a multiple of this many bytes, like PyTorch's own on processors."""

SWEEP_BATCHES, SWEEP_TOKENS = 16, 8192
"""What goes through a layer together: as many tokens as 16 full batches have, and 8,192 at most, which take
20 KB each. Parts have fewer: see `residuesPerPart` in electron/contract/plan.ts. A core of a Xeon converts a
layer of ESM-2 3B to FP32 in 0.1 s and computes 12 s in it with 8,192 tokens; with AMX, in BF16, 4 s."""

StepDone = Callable[[float], None]
"""A callback with the share of a sweep through all layers computed since its last call; it may raise."""


def ignore_step(_share: float) -> None:
    """A `StepDone` that does nothing."""


class MappedLayers(nn.Module, Generic[Through]):
    """`encoders.blocks.Layers`, one per item of `weights`, for one block after the other.

    `layer` is on the meta device, with the dtypes of the run. `weights`: for each layer, functions that
    return the file's tensors, by their names in the state dict.
    """

    streamed = False

    def __init__(
        self, layer: LayerOfBlocks[Through], weights: list[Mapping[str, Callable[[], Tensor]]]
    ) -> None:
        super().__init__()
        self._dtype = layer.dtype
        self._packed = pack_linears(layer) if packing_is_faster(self._dtype) else {}
        self._blocks = layer.blocks()
        self._tensors = [_tensors_of(layer, block.modules) for block in self._blocks]
        _share_memory(self._tensors)
        for tensors in self._tensors:
            layer.load_state_dict(tensors, strict=False, assign=True)
        self._weights = weights

    def __len__(self) -> int:
        return len(self._weights)

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self._dtype

    def blocks(self) -> Iterator[Through]:
        """See `encoders.blocks.Layers.blocks`."""
        for weights in self._weights:
            for block, tensors in zip(self._blocks, self._tensors, strict=True):
                for name, tensor in tensors.items():
                    convert(weights[name](), tensor)
                for name in block.modules & self._packed.keys():
                    linear = self._packed[name]
                    linear.pack(converted(weights[f"{name}.weight"](), self._dtype))
                try:
                    yield block.through
                finally:
                    # Its memory must be free before the next block's is taken, here, in the other encoder, or
                    # in the next sweep if this one ran out of memory.
                    for linear in self._packed.values():
                        linear.clear()


def _tensors_of(layer: nn.Module, modules: Collection[str]) -> dict[str, Tensor]:
    """The tensors of some submodules of a layer, by their names in its state dict."""
    return {name: tensor for name, tensor in layer.state_dict().items() if name.split(".")[0] in modules}


def _share_memory(blocks: list[dict[str, Tensor]]) -> None:
    """Put tensors of the same shapes and dtypes in place of tensors on the meta device, those of each block
    into the same memory."""
    places = [
        list(accumulate((-(-t.nbytes // ALIGNMENT) * ALIGNMENT for t in block.values()), initial=0))
        for block in blocks
    ]
    memory = torch.empty(max(ends[-1] for ends in places), dtype=torch.uint8)
    for block, begins in zip(blocks, places, strict=True):
        for (name, like), begin in zip(list(block.items()), begins, strict=False):
            block[name] = memory[begin : begin + like.nbytes].view(like.dtype).view(like.shape)


_CONVERTED_AT_ONCE = 1 << 16
"""This many numbers stay in a core's cache between two conversions."""


def converted(weights: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a copy of weights in another precision; see `convert`."""
    copy = torch.empty(weights.shape, dtype=dtype)
    convert(weights, copy)
    return copy


def convert(weights: Tensor, into: Tensor) -> None:
    """Copy weights into a tensor of another precision.

    From FP16 to BF16, PyTorch takes twice as long directly as through FP32; the bits are the same.
    """
    if weights.dtype != torch.float16 or into.dtype != torch.bfloat16:
        into.copy_(weights)
        return
    numbers, places = weights.reshape(-1), into.view(-1)
    for begin in range(0, numbers.numel(), _CONVERTED_AT_ONCE):
        piece = slice(begin, begin + _CONVERTED_AT_ONCE)
        places[piece].copy_(numbers[piece].float())
