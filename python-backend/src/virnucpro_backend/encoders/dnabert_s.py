"""DNABERT-S (Zhou et al. 2024, arXiv:2402.08777): the DNABERT-2 architecture, a MosaicBERT, any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.blocks import Block, EncoderConfig, LayerOfBlocks, ResidentLayers
from virnucpro_backend.encoders.encoder import Encoder
from virnucpro_backend.encoders.float32 import Embedding, Float32Module, LayerNorm, Scores
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.pooling import segment_mean

NORM_EPS = 1e-12


@dataclass(frozen=True)
class DnabertSConfig(EncoderConfig):
    """Sizes of a DNABERT-S."""

    vocabulary: int

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


class ResidualStream(NamedTuple):
    """The residual stream [T, d] of a batch, x in FP32, and h rounded to the run's precision."""

    x: Tensor
    h: Tensor
    layout: SequenceLayout


Through = Callable[[ResidualStream, "DnabertS"], tuple[Tensor, Tensor]]
"""Takes a batch through one block: returns the new x and h."""


class DnabertS(Encoder["DnabertSLayer", ResidualStream]):
    """DNABERT-S without its unused pooler.

    The embedding table holds word plus token-type-0 embedding (see `weights`), as all tokens are of type 0.
    """

    config: DnabertSConfig
    has_alibi = True

    def __init__(self, config: DnabertSConfig, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.width)
        self.embedding_norm = LayerNorm(config.width, NORM_EPS)
        self.alibi = Alibi(config.heads)
        self.layers = ResidentLayers(DnabertSLayer(config, dtype) for _ in range(config.layers))
        self.requires_grad_(False)
        self.use_kernels_for(torch.device("cpu"))

    def embedded(self, tokens: Tensor, layout: SequenceLayout) -> ResidualStream:
        """See `Encoder.embedded`."""
        x = cast(Tensor, self.ops.norm(self.embedding(tokens), self.embedding_norm, torch.float32))
        return ResidualStream(x, x.to(self.dtype), layout)

    def after(self, through: Through, stream: ResidualStream) -> ResidualStream:
        """See `Encoder.after`."""
        return ResidualStream(*through(stream, self), stream.layout)

    def pooled(self, stream: ResidualStream) -> Tensor:
        """The mean over all tokens, `[CLS] x [SEP]`, FP32 [n, d]."""
        return segment_mean(stream.x, stream.layout)


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

    def blocks(self) -> tuple[Block[Through], Block[Through]]:
        """Return the two blocks, each of which adds to the residual stream and normalizes it."""
        return (
            Block(self._add_attention, frozenset(("qkv", "attention_output", "attention_norm"))),
            Block(self._add_feed_forward, frozenset(("gated", "output", "feed_forward_norm"))),
        )

    def _add_attention(self, stream: ResidualStream, encoder: DnabertS) -> tuple[Tensor, Tensor]:
        qkv = self.qkv(stream.h).view(-1, 3, self.heads, self.head_dim)
        scores = Scores(self.head_dim**-0.5, alibi_slopes=encoder.alibi.slopes)
        update = self.attention_output(encoder.attention(qkv, stream.layout, scores))
        return encoder.ops.post_norm(stream.x, update, self.attention_norm, self.dtype)

    def _add_feed_forward(self, stream: ResidualStream, encoder: DnabertS) -> tuple[Tensor, Tensor]:
        update = self.output(encoder.ops.linear_geglu(self.gated, stream.h))
        return encoder.ops.post_norm(stream.x, update, self.feed_forward_norm, self.dtype)


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
