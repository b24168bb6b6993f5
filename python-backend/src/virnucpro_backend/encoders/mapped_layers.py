"""Layers whose weights stay in their file, for CPUs.

The file is mapped into memory, so that all workers of a computer share one copy of it in the system's page
cache, in the 16 bits in which ESM-2 was published. A layer's weights are converted to the run's precision,
which for FP32 is exact, into the one layer that computes, when it is its turn. All batches of a part of usual
size go through a layer together, so that each part has every layer converted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn

Layer = TypeVar("Layer", bound=nn.Module)

SWEEP_BATCHES, SWEEP_TOKENS = 16, 8192
"""What goes through a layer together: as many tokens as 16 full batches have, and 8,192 at most, which take
20 KB each. Parts have fewer: see `residuesPerPart` in electron/contract/plan.ts. A core of a Xeon converts a
layer of ESM-2 3B to FP32 in 0.1 s and computes 12 s in it with 8,192 tokens; with AMX, in BF16, 4 s."""

StepDone = Callable[[float], None]
"""A callback with the share of a sweep through all layers computed since its last call; it may raise."""


def ignore_step(_share: float) -> None:
    """A `StepDone` that does nothing."""


class MappedLayers(nn.Module, Generic[Layer]):
    """`encoders.esm2.Layers`, one per item of `weights`. Each layer is valid until the next is requested.

    `layer` is on the meta device, with the dtypes of the run. `weights`: for each layer, functions that
    return the file's tensors, by their names in the state dict.
    """

    streamed = False

    def __init__(self, layer: Layer, weights: list[Mapping[str, Callable[[], Tensor]]]) -> None:
        super().__init__()
        self._tensors = {
            name: torch.empty(like.shape, dtype=like.dtype) for name, like in layer.state_dict().items()
        }
        layer.load_state_dict(self._tensors, assign=True)
        # The tuple hides the layer from the encoder's state dict.
        self._layer = (layer,)
        self._weights = weights

    def __len__(self) -> int:
        return len(self._weights)

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return cast(torch.dtype, self._layer[0].dtype)

    def __iter__(self) -> Iterator[Layer]:
        for weights in self._weights:
            for name, tensor in self._tensors.items():
                convert(weights[name](), tensor)
            yield self._layer[0]


_CONVERTED_AT_ONCE = 1 << 16
"""This many numbers stay in a core's cache between two conversions."""


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
