"""DNABERT-S (Zhou et al. 2024, arXiv:2402.08777): the DNABERT-2 architecture, a MosaicBERT, any size.

Hidden states are flat: x [T, d] holds the tokens of all sequences of a batch end to end, without padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import Attention, choose_attention
from virnucpro_backend.encoders.blocks import BLOCKS_PER_LAYER, Block, LayerOfBlocks, blocks_of
from virnucpro_backend.encoders.float32 import Embedding, Float32Module, LayerNorm
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import MappedLayers, StepDone, ignore_step
from virnucpro_backend.encoders.ops import Ops, choose_ops
from virnucpro_backend.encoders.pooling import segment_mean

NORM_EPS = 1e-12


@dataclass(frozen=True)
class DnabertSConfig:
    """Sizes of a DNABERT-S."""

    layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads

    @property
    def fewest_numbers(self) -> int:
        """How many numbers its matrices have; a file of weights holds more."""
        layer = 4 * self.width**2 + 3 * self.width * self.feed_forward
        return self.layers * layer + self.vocabulary * self.width

    def __post_init__(self) -> None:
        sizes = (self.layers, self.width, self.heads, self.feed_forward, self.vocabulary)
        if min(sizes) < 1 or self.width % self.heads:
            raise ValueError(f"{self} is not possible: width must be a multiple of the number of heads")


DNABERT_S = DnabertSConfig(layers=12, width=768, heads=12, feed_forward=3072, vocabulary=4096)
"""The published model."""


Through = Callable[[Tensor, Tensor, SequenceLayout, "DnabertS"], tuple[Tensor, Tensor]]
"""Takes a batch through one block: the residual stream in FP32 and rounded to the run's precision."""


class DnabertS(nn.Module):
    """DNABERT-S without its unused pooler.

    The embedding table holds word plus token-type-0 embedding (see `weights`), as all tokens are of type 0.
    """

    def __init__(self, config: DnabertSConfig, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.width)
        self.embedding_norm = LayerNorm(config.width, NORM_EPS)
        self.alibi = Alibi(config.heads)
        self.layers: DnabertSLayers | MappedLayers[Through] = DnabertSLayers(
            DnabertSLayer(config, dtype) for _ in range(config.layers)
        )
        self.requires_grad_(False)
        self.use_kernels_for(torch.device("cpu"))

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self.layers.dtype

    @property
    def resident_layers(self) -> DnabertSLayers:
        """The layers, unless mapped ones have taken their place."""
        assert isinstance(self.layers, DnabertSLayers)
        return self.layers

    @property
    def mapped(self) -> bool:
        """Whether the layers' weights stay in their file."""
        return isinstance(self.layers, MappedLayers)

    def use_kernels_for(self, device: torch.device, *, fused: bool = True) -> None:
        """Choose the kernels that suit the device and this model's precision."""
        self.ops: Ops = choose_ops(device, self.dtype, fused=fused)
        self.attention: Attention = choose_attention(
            device, self.dtype, head_dim=self.config.head_dim, fused=fused, alibi=True
        )

    @torch.inference_mode()
    def forward(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Map tokens int [T] to the last hidden state, FP32 [T, d]."""
        x, h = self._embedded(tokens)
        for through in self.layers.blocks():
            x, h = through(x, h, layout, self)
        return x

    @torch.inference_mode()
    def embed(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Map tokens int [T], `[CLS] x [SEP]` per sequence, to FP32 [n, d]: the mean over all of them."""
        return segment_mean(self(tokens, layout), layout)

    @torch.inference_mode()
    def embed_all(
        self, batches: Sequence[tuple[Tensor, SequenceLayout]], step_done: StepDone = ignore_step
    ) -> list[Tensor]:
        """Return what `embed` gives for each batch; see `Esm2.embed_all`."""
        streams = [self._embedded(tokens) for tokens, _ in batches]
        for through in self.layers.blocks():
            for number, ((x, h), (_, layout)) in enumerate(zip(streams, batches, strict=True)):
                streams[number] = through(x, h, layout, self)
                step_done(1 / (BLOCKS_PER_LAYER * len(self.layers) * len(streams)))
        return [segment_mean(x, layout) for (x, _), (_, layout) in zip(streams, batches, strict=True)]

    def _embedded(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The residual stream before the first layer, in FP32 and rounded to the run's precision."""
        x = cast(Tensor, self.ops.norm(self.embedding(tokens), self.embedding_norm, torch.float32))
        return x, x.to(self.dtype)


class DnabertSLayer(LayerOfBlocks[Through]):
    """Post-LN transformer block: x = LN(x + Wo attention(x)); x = LN(x + W2 (gelu(a) * b)), [a, b] = W1 x."""

    def __init__(self, config: DnabertSConfig, dtype: torch.dtype) -> None:
        super().__init__()
        width = config.width
        self.heads, self.head_dim = config.heads, config.head_dim
        self.qkv = nn.Linear(width, 3 * width, dtype=dtype)
        self.attention_output = nn.Linear(width, width, dtype=dtype)
        self.attention_norm = LayerNorm(width, NORM_EPS)
        self.gated = nn.Linear(width, 2 * config.feed_forward, bias=False, dtype=dtype)
        self.output = nn.Linear(config.feed_forward, width, dtype=dtype)
        self.feed_forward_norm = LayerNorm(width, NORM_EPS)

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        weight: Tensor = self.qkv.weight
        return weight.dtype

    def blocks(self) -> tuple[Block[Through], Block[Through]]:
        """Return the two blocks, each of which adds to the residual stream and normalizes it."""
        return (
            Block(self._add_attention, frozenset(("qkv", "attention_output", "attention_norm"))),
            Block(self._add_feed_forward, frozenset(("gated", "output", "feed_forward_norm"))),
        )

    def _add_attention(
        self, x: Tensor, h: Tensor, layout: SequenceLayout, encoder: DnabertS
    ) -> tuple[Tensor, Tensor]:
        update = self.attend(h, layout, encoder.alibi.slopes, encoder.attention)
        return encoder.ops.post_norm(x, update, self.attention_norm, self.dtype)

    def _add_feed_forward(
        self, x: Tensor, h: Tensor, _layout: SequenceLayout, encoder: DnabertS
    ) -> tuple[Tensor, Tensor]:
        return encoder.ops.post_norm(x, self.feed_forward(h, encoder.ops), self.feed_forward_norm, self.dtype)

    def attend(self, h: Tensor, layout: SequenceLayout, slopes: Tensor, attention: Attention) -> Tensor:
        """Compute Wo attention(h). h and the result: [T, d] in the run's precision; slopes: FP32 [heads]."""
        qkv = self.qkv(h).view(-1, 3, self.heads, self.head_dim)
        context = attention(qkv, layout, scale=self.head_dim**-0.5, alibi_slopes=slopes)
        out: Tensor = self.attention_output(context)
        return out

    def feed_forward(self, h: Tensor, ops: Ops) -> Tensor:
        """Compute W2 (gelu(a) * b), [a, b] = W1 h. h and the result: [T, d] in the run's precision."""
        out: Tensor = self.output(ops.linear_geglu(self.gated, h))
        return out


class DnabertSLayers(nn.ModuleList):
    """The layers in order."""

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return next(iter(self)).dtype

    def __iter__(self) -> Iterator[DnabertSLayer]:
        return cast(Iterator[DnabertSLayer], super().__iter__())

    def blocks(self) -> Iterator[Through]:
        """Yield what takes a batch through each block of each layer."""
        return blocks_of(self)


class Alibi(Float32Module):
    """The slopes FP32 [heads] of the attention bias -slope * |i - j|: a fixed table, not weights."""

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        # It must be on the CPU even in a model on PyTorch's meta device, as nothing fills it in later.
        slopes = torch.tensor(alibi_slopes(heads), dtype=torch.float32, device="cpu")
        self.register_buffer("slopes", slopes, persistent=False)


def alibi_slopes(heads: int) -> list[float]:
    """The slopes of Press et al. 2022 (arXiv:2108.12409).

    If `heads` is a power of two, they are the powers of 2^(-8/heads). Otherwise they are the slopes of the
    next lower power of two, then every other slope of the next higher one.
    """
    lower = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * (i + 1) / lower) for i in range(lower)]
    between = [2.0 ** (-8.0 * (i + 1) / (2 * lower)) for i in range(0, 2 * lower, 2)]
    return slopes + between[: heads - lower]
