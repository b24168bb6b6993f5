"""An encoder over flat hidden states: x [T, d] holds the tokens of all sequences of a batch end to end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import Attention, choose_attention
from virnucpro_backend.encoders.blocks import (
    BLOCKS_PER_LAYER,
    EncoderConfig,
    Layer,
    Layers,
    ResidentLayers,
)
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import MappedLayers, StepDone, ignore_step
from virnucpro_backend.encoders.ops import Ops, choose_ops

Stream = TypeVar("Stream")


class Encoder(nn.Module, Generic[Layer, Stream]):
    """Embeds batches: tokens become a residual stream, which goes through all blocks and is averaged."""

    config: EncoderConfig
    layers: Layers
    has_alibi = False

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self.layers.dtype

    @property
    def streamed(self) -> bool:
        """Whether the layers' weights are in main memory."""
        return self.layers.streamed

    @property
    def mapped(self) -> bool:
        """Whether the layers' weights stay in their file."""
        return isinstance(self.layers, MappedLayers)

    @property
    def resident_layers(self) -> ResidentLayers[Layer]:
        """The layers, unless streamed or mapped ones have taken their place."""
        assert isinstance(self.layers, ResidentLayers)
        return self.layers

    def use_kernels_for(self, device: torch.device, *, fused: bool = True) -> None:
        """Choose the kernels that suit the device and this model's precision."""
        self.ops: Ops = choose_ops(device, self.dtype, fused=fused)
        self.attention: Attention = choose_attention(
            device, self.dtype, head_dim=self.config.head_dim, fused=fused, alibi=self.has_alibi
        )

    def embed(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Map tokens int [T], with the special tokens around each sequence, to FP32 [n, d]: see `pooled`."""
        return self.embed_all([(tokens, layout)])[0]

    @torch.inference_mode()
    def embed_all(
        self, batches: Sequence[tuple[Tensor, SequenceLayout]], step_done: StepDone = ignore_step
    ) -> list[Tensor]:
        """Return what `embed` gives for each batch; all batches go through one block before the next.

        So streamed layers are copied to the device once for all batches, while the batches compute, and
        mapped ones are converted once for all. `step_done` is called after each block of each batch.
        """
        streams = [self.embedded(tokens, layout) for tokens, layout in batches]
        for through in self.layers.blocks():
            for number, stream in enumerate(streams):
                streams[number] = self.after(through, stream)
                step_done(1 / (BLOCKS_PER_LAYER * len(self.layers) * len(streams)))
        return [self.pooled(stream) for stream in streams]

    @abstractmethod
    def embedded(self, tokens: Tensor, layout: SequenceLayout) -> Stream:
        """The residual stream before the first layer."""

    @abstractmethod
    def after(self, through: Any, stream: Stream) -> Stream:
        """The residual stream after a block."""

    @abstractmethod
    def pooled(self, stream: Stream) -> Tensor:
        """The mean of each sequence's tokens after the last layer, FP32 [n, d]."""
