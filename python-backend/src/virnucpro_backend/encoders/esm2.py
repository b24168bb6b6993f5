"""ESM-2 (Lin et al. 2023, doi:10.1126/science.ade2574), a protein language model, any size, without heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import Attention
from virnucpro_backend.encoders.blocks import Block, EncoderConfig, LayerOfBlocks, ResidentLayers
from virnucpro_backend.encoders.encoder import Encoder
from virnucpro_backend.encoders.float32 import (
    Embedding,
    LayerNorm,
    QueriesKeysValues,
    Rotary,
    RotaryTables,
    Scores,
)
from virnucpro_backend.encoders.fp8 import Activations, Fp8Linear
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops
from virnucpro_backend.encoders.pooling import segment_mean

VOCABULARY = 33
NORM_EPS = 1e-5
POOLED_RESIDUES = 1024

TOKEN_DROPOUT_SCALE = 1 - 0.15 * 0.8
"""In training 15 % of tokens were masked, 80 % of these by zeros; without masks, embeddings are scaled."""


@dataclass(frozen=True)
class Esm2Config(EncoderConfig):
    """Sizes of an ESM-2."""

    @property
    def fewest_numbers(self) -> int:
        """How many numbers its matrices have; a file of weights holds more."""
        return self.layers * (4 * self.width**2 + 2 * self.width * self.feed_forward)

    def __post_init__(self) -> None:
        if min(self.layers, self.width, self.heads, self.feed_forward) < 1 or self.width % (2 * self.heads):
            raise ValueError(f"{self} is not possible: width must be a multiple of twice the number of heads")


ESM2_3B = Esm2Config(layers=36, width=2560, heads=40, feed_forward=10240)
"""The published model with 3 billion weights."""


class ResidualStream:
    """The residual stream x FP32 [T, d] of one batch.

    `x + update` is not computed immediately: the next LayerNorm adds the update, so that adding and
    normalising take one pass over the device's memory. The sum overwrites x, so the old stream must not be
    used afterwards: write `x = x + update`.
    """

    def __init__(
        self, x: Tensor, layout: SequenceLayout, rotary: RotaryTables, update: Tensor | None = None
    ) -> None:
        self.layout, self.rotary = layout, rotary
        self._x, self._update = x, update

    def __add__(self, update: Tensor) -> ResidualStream:
        """Add an update [T, d] in the run's precision at the next LayerNorm."""
        return ResidualStream(self._x, self.layout, self.rotary, update)

    def normed(self, norm: LayerNorm, ops: Ops, dtype: torch.dtype) -> Activations:
        """LN(x) [T, d], rounded to dtype."""
        # Drop the update here: its memory must be free before the layer continues.
        update, self._update = self._update, None
        if update is None:
            return ops.norm(self._x, norm, dtype)
        self._x, h = ops.pre_norm(self._x, update, norm, dtype)
        return h

    def queries_keys_values(self, layer: Esm2Layer, ops: Ops) -> QueriesKeysValues:
        """Compute q, k and v of every token for a layer's attention."""
        h = self.normed(layer.attention_norm, ops, layer.dtype)
        return ops.queries_keys_values(layer.qkv, h, self.layout, self.rotary)


class EmbeddedTokens(ResidualStream):
    """The residual stream before the first layer, where a token's vector depends on nothing but the token.

    The first layer's q, k and v are therefore computed once per token of the vocabulary and looked up, which
    makes ESM-2 3B 0.5 % faster overall. Adding the first update makes this a plain ResidualStream.
    """

    def __init__(
        self, tokens: Tensor, embedding: Embedding, layout: SequenceLayout, rotary: RotaryTables
    ) -> None:
        super().__init__(embedding(tokens), layout, rotary)
        self._tokens, self._embedding = tokens, embedding

    def queries_keys_values(self, layer: Esm2Layer, ops: Ops) -> QueriesKeysValues:
        """Look them up by token in a table that is computed once for the vocabulary."""
        table = layer.qkv(ops.norm(self._embedding.padded(), layer.attention_norm, layer.dtype))
        return QueriesKeysValues(nn.functional.embedding(self._tokens, table), self.rotary)


Through = Callable[[ResidualStream, Ops, Attention], ResidualStream]
"""Takes a batch through one block."""


class Esm2(Encoder["Esm2Layer", ResidualStream]):
    """ESM-2 up to its final LayerNorm.

    `layers` are on the device, or are copied to it one by one (`streamed_layers`). The embedding table holds
    the published numbers times TOKEN_DROPOUT_SCALE (see `weights`), as the published model effectively
    does for every input without `<mask>`.
    """

    config: Esm2Config

    def __init__(self, config: Esm2Config, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(VOCABULARY, config.width)
        self.rotary = Rotary(config.head_dim)
        self.layers = ResidentLayers(Esm2Layer(config, dtype) for _ in range(config.layers))
        self.final_norm = LayerNorm(config.width, NORM_EPS)
        self.requires_grad_(False)
        self.use_kernels_for(torch.device("cpu"))

    def to_fp8(self) -> None:
        """Replace the linear layers by FP8 ones, in place, on the device where they are."""
        for layer in self.resident_layers:
            layer.to_fp8(self.ops)
        self.use_kernels_for(self.embedding.weight.device)

    def embedded(self, tokens: Tensor, layout: SequenceLayout) -> ResidualStream:
        """See `Encoder.embedded`."""
        return EmbeddedTokens(tokens, self.embedding, layout, self.rotary.tables(layout.max_length))

    def after(self, through: Through, stream: ResidualStream) -> ResidualStream:
        """See `Encoder.after`."""
        return through(stream, self.ops, self.attention)

    def pooled(self, stream: ResidualStream) -> Tensor:
        """The mean over at most the first 1,024 residues, without `<cls>` and `<eos>`, FP32 [n, d]."""
        last = cast(Tensor, stream.normed(self.final_norm, self.ops, torch.float32))
        return segment_mean(last, stream.layout, skip_first=1, skip_last=1, at_most=POOLED_RESIDUES)


class Esm2Layer(LayerOfBlocks[Through]):
    """Pre-LN transformer block: x = x + Wo attention(LN x); x = x + W2 gelu(W1 LN x)."""

    def __init__(self, config: Esm2Config, dtype: torch.dtype) -> None:
        super().__init__()
        width = config.width
        self.heads, self.head_dim = config.heads, config.head_dim
        self.attention_norm = LayerNorm(width, NORM_EPS)
        self.qkv = nn.Linear(width, 3 * width, dtype=dtype)
        self.attention_output = nn.Linear(width, width, dtype=dtype)
        self.feed_forward_norm = LayerNorm(width, NORM_EPS)
        self.fc1 = nn.Linear(width, config.feed_forward, dtype=dtype)
        self.fc2 = nn.Linear(config.feed_forward, width, dtype=dtype)

    def to_fp8(self, ops: Ops) -> None:
        """Replace the linear layers by FP8 ones, in place, on the device where they are."""
        for name in ("qkv", "attention_output", "fc1", "fc2"):
            setattr(self, name, Fp8Linear(getattr(self, name), ops.quantize))

    def blocks(self) -> tuple[Block[Through], Block[Through]]:
        """Return the two blocks, each of which adds to the residual stream."""
        return (
            Block(
                lambda x, ops, attention: x + self.attend(x, ops, attention),
                frozenset(("attention_norm", "qkv", "attention_output")),
            ),
            Block(
                lambda x, ops, _attention: x + self.feed_forward(x, ops),
                frozenset(("feed_forward_norm", "fc1", "fc2")),
            ),
        )

    def forward(self, x: ResidualStream, ops: Ops, attention: Attention) -> ResidualStream:
        """Return the residual stream after this layer."""
        for block in self.blocks():
            x = block.through(x, ops, attention)
        return x

    def attend(self, x: ResidualStream, ops: Ops, attention: Attention) -> Tensor:
        """Compute Wo attention(LN x), [T, d] in the run's precision."""
        qkv, rotary = x.queries_keys_values(self, ops)
        qkv = qkv.view(-1, 3, self.heads, self.head_dim)
        # The kernel applies the scale in FP32: folded into FP16 weights, small weights would underflow.
        context = attention(qkv, x.layout, Scores(self.head_dim**-0.5, rotary))
        out: Tensor = self.attention_output(context)
        return out

    def feed_forward(self, x: ResidualStream, ops: Ops) -> Tensor:
        """Compute W2 gelu(W1 LN x), [T, d] in the run's precision."""
        # LN x gets no name, so that its memory is free before fc2 allocates.
        h = ops.linear_gelu(self.fc1, x.normed(self.feed_forward_norm, ops, self.dtype))
        out: Tensor = self.fc2(h)
        return out
