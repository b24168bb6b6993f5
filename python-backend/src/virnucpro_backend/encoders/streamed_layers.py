"""Layers whose weights are in main memory and are copied to the device one by one, for GPUs too small for
all of them.

The device holds two layers. While one computes, a copy stream fills the other slot with the next layer.
Weights are only moved, never changed, so the results equal those of resident layers. After the last layer the
first one is fetched again, for the next batch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.blocks import blocks_of
from virnucpro_backend.encoders.esm2 import Esm2Layer, Through
from virnucpro_backend.encoders.host_memory import HostMemory

ALIGNMENT = 256
"""Every tensor of a layer begins at a multiple of this many bytes, like PyTorch's own GPU allocations."""

SWEEP_BATCHES, SWEEP_TOKENS = 4, 16_384
"""How many batches go through each layer before the next: at most 4, and at most 16,384 tokens unless one
batch alone has more. This hides the copies: a layer of ESM-2 3B takes 13 ms to copy over PCIe 3.0, and a GPU
of 100 TFLOP/s takes 26 ms to compute 16,384 tokens in it."""


class StreamedLayers(nn.Module):
    """`count` layers, as `encoders.blocks.Layers`. Each is valid until the next is requested.

    `build` makes a layer, on the device and in its final form; it is called once per layer, in order. Raises
    what `build` raises, and MemoryError or torch.OutOfMemoryError if either memory is too small.
    """

    streamed = True

    def __init__(self, build: Callable[[int], Esm2Layer], count: int, device: torch.device) -> None:
        super().__init__()
        first = build(0)
        offsets = _TensorOffsets(first)
        self._slots = (_Slot(first, offsets, device), _Slot(first, offsets, device))
        self._weights = HostMemory(count, offsets.n_bytes, pin=device.type == "cuda")
        self._copies = _stream(device) if device.type == "cuda" else None
        for number in range(count):
            self._slots[0].layer.load_state_dict((first if number == 0 else build(number)).state_dict())
            self._weights[number].copy_(self._slots[0].memory)

    def __len__(self) -> int:
        return len(self._weights)

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self._slots[0].layer.dtype

    @property
    def pinned(self) -> bool:
        """Whether all weights are in pinned memory, which a GPU can read by itself."""
        return self._weights.pinned

    def __iter__(self) -> Iterator[Esm2Layer]:
        for number in range(len(self)):
            slot = self._slots[number % 2]
            self._fetch(number, slot)
            slot.wait_until_filled()
            try:
                yield slot.layer
            finally:
                slot.mark_used()
            # Fetch only after this layer's work is queued: copies from unpinned memory block the host.
            following = (number + 1) % len(self)
            self._fetch(following, self._slots[following % 2])

    def blocks(self) -> Iterator[Through]:
        """See `Layers.blocks`."""
        return blocks_of(self)

    def _fetch(self, number: int, slot: _Slot) -> None:
        if slot.holds != number:
            slot.fill(number, self._weights[number], self._copies)


class _TensorOffsets:
    """The offset, shape and dtype of each tensor of a layer in one block of memory."""

    def __init__(self, layer: Esm2Layer) -> None:
        self._tensors: list[tuple[str, int, torch.Size, torch.dtype]] = []
        end = 0
        for name, tensor in layer.state_dict().items():
            self._tensors.append((name, end, tensor.shape, tensor.dtype))
            end += -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT
        self.n_bytes = end

    def views(self, memory: Tensor) -> dict[str, Tensor]:
        """Return the tensors in a block of memory uint8 [n_bytes], by name."""
        views = {}
        for name, begin, shape, dtype in self._tensors:
            n_bytes = shape.numel() * dtype.itemsize
            views[name] = memory[begin : begin + n_bytes].view(dtype).view(shape)
        return views


class _Slot:
    """Memory for one layer on the device, and the layer that computes with it."""

    def __init__(self, example: Esm2Layer, offsets: _TensorOffsets, device: torch.device) -> None:
        self.memory = torch.empty(offsets.n_bytes, dtype=torch.uint8, device=device)
        self.layer = copy.deepcopy(example)
        self.layer.load_state_dict(offsets.views(self.memory), assign=True)
        self.holds: int | None = None
        on_gpu = device.type == "cuda"
        self._filled = torch.cuda.Event() if on_gpu else None  # type: ignore[no-untyped-call]
        self._used = torch.cuda.Event() if on_gpu else None  # type: ignore[no-untyped-call]

    def fill(self, number: int, weights: Tensor, copies: torch.cuda.Stream | None) -> None:
        """Copy a layer's weights here, as soon as the device has finished with the present ones."""
        self.holds = None
        if copies is None or self._used is None or self._filled is None:
            self.memory.copy_(weights)
        else:
            copies.wait_event(self._used)
            with torch.cuda.stream(copies):
                self.memory.copy_(weights, non_blocking=True)
            # If the model is dropped meanwhile, this memory must not be reused before the copy ends.
            self.memory.record_stream(copies)
            self._filled.record(copies)
        self.holds = number

    def wait_until_filled(self) -> None:
        """Make device work that is queued from now on wait for the copy."""
        if self._filled is not None:
            torch.cuda.current_stream().wait_event(self._filled)

    def mark_used(self) -> None:
        """Record that all work with these weights has been queued."""
        if self._used is not None:
            self._used.record()


def _stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
