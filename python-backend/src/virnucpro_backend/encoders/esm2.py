"""ESM-2 (Lin et al. 2023, doi:10.1126/science.ade2574), a protein language model, any size, without heads.

Hidden states are flat: x [T, d] holds the tokens of all sequences of a batch end to end, never padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import Attention, choose_attention
from virnucpro_backend.encoders.float32 import Embedding, LayerNorm, Rotary, RotaryTables
from virnucpro_backend.encoders.fp8 import Activations, Fp8Linear
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops, choose_ops
from virnucpro_backend.encoders.pooling import segment_mean
from virnucpro_backend.encoders.streamed_layers import StreamedLayers

VOCABULARY = 33
NORM_EPS = 1e-5
POOLED_RESIDUES = 1024

TOKEN_DROPOUT_SCALE = 1 - 0.15 * 0.8
"""Training masked 15 % of the tokens, 80 % of these by zeros; without masks, embeddings are scaled."""


@dataclass(frozen=True)
class Esm2Config:
    """Sizes of an ESM-2."""

    layers: int
    width: int
    heads: int
    feed_forward: int

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    def __post_init__(self) -> None:
        if min(self.layers, self.width, self.heads, self.feed_forward) < 1 or self.width % (2 * self.heads):
            raise ValueError(f"{self} is not possible: width must be a multiple of twice the number of heads")


ESM2_3B = Esm2Config(layers=36, width=2560, heads=40, feed_forward=10240)
"""The published model with 3 billion weights."""


@dataclass
class ResidualStream:
    """One batch between two layers: x FP32 [T, d], and what the last layer adds to it, not yet added.

    Before the first layer, `tokens` says of which embeddings x consists.
    """

    x: Tensor
    update: Tensor | None
    layout: SequenceLayout
    rotary: RotaryTables
    tokens: tuple[Tensor, Embedding] | None = None


class Esm2(nn.Module):
    """ESM-2 up to its final LayerNorm.

    `layers` are on the device, or (`StreamedLayers`) come to it one after the other. The embedding table
    holds the published numbers times TOKEN_DROPOUT_SCALE (see `weights`): what the published model computes
    for every input without `<mask>`.
    """

    def __init__(self, config: Esm2Config, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(VOCABULARY, config.width)
        self.rotary = Rotary(config.head_dim)
        self.layers: nn.ModuleList | StreamedLayers = nn.ModuleList(
            Esm2Layer(config, dtype) for _ in range(config.layers)
        )
        self.final_norm = LayerNorm(config.width, NORM_EPS)
        self.requires_grad_(False)
        self.use_kernels_for(torch.device("cpu"))

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        layer = self.layers.example if isinstance(self.layers, StreamedLayers) else self.layers[0]
        assert isinstance(layer, Esm2Layer)
        return layer.dtype

    @property
    def streamed(self) -> bool:
        """Whether the layers' weights lie in main memory."""
        return isinstance(self.layers, StreamedLayers)

    def use_kernels_for(self, device: torch.device, *, fused: bool = True) -> None:
        """Choose, once, the kernels that suit a device and this model's precision."""
        self.ops: Ops = choose_ops(device, self.dtype, fused=fused)
        self.attention: Attention = choose_attention(
            device, self.dtype, head_dim=self.config.head_dim, fused=fused, alibi=False
        )

    def to_fp8(self) -> None:
        """Replace the linear layers by FP8 ones, in place, on the device where they are."""
        for layer in self.layers:
            assert isinstance(layer, Esm2Layer)
            layer.to_fp8(self.ops)
        self.use_kernels_for(self.embedding.weight.device)

    @torch.inference_mode()
    def forward(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Tokens int [T] to the last representation, after the final LayerNorm, FP32 [T, d]."""
        stream = self._begin(tokens, layout)
        for layer in self.layers:
            layer(stream, self.ops, self.attention)
        return self._end(stream)

    @torch.inference_mode()
    def embed(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Tokens int [T], `<cls> residues <eos>` per sequence, to FP32 [n, d].

        Mean over the residues, without `<cls>` and `<eos>`, of which at most the first 1,024.
        """
        return _pooled(self(tokens, layout), layout)

    @torch.inference_mode()
    def embed_all(self, batches: Sequence[tuple[Tensor, SequenceLayout]]) -> list[Tensor]:
        """What `embed` gives for each batch, every layer going over all of them before the next one does.

        Streamed layers then come to the device once for all batches, and are copied while those compute.
        """
        streams = [self._begin(tokens, layout) for tokens, layout in batches]
        for layer in self.layers:
            for stream in streams:
                layer(stream, self.ops, self.attention)
        return [_pooled(self._end(stream), stream.layout) for stream in streams]

    def _begin(self, tokens: Tensor, layout: SequenceLayout) -> ResidualStream:
        rotary = self.rotary.tables(layout.max_length)
        return ResidualStream(self.embedding(tokens), None, layout, rotary, (tokens, self.embedding))

    def _end(self, stream: ResidualStream) -> Tensor:
        last = _next_norm(self.ops, stream, self.final_norm, torch.float32)
        assert isinstance(last, Tensor)
        return last


class Esm2Layer(nn.Module):
    """Pre-LN transformer block: x += Wo attention(LN x); x += W2 gelu(W1 LN x)."""

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

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        weight: Tensor = self.qkv.weight
        return weight.dtype

    def to_fp8(self, ops: Ops) -> None:
        """Replace the linear layers by FP8 ones, in place, on the device where they are."""
        for name in ("qkv", "attention_output", "fc1", "fc2"):
            setattr(self, name, Fp8Linear(getattr(self, name), ops.quantize))

    def forward(self, stream: ResidualStream, ops: Ops, attention: Attention) -> None:
        """Take the stream of a batch through this layer, in place."""
        stream.update = self.attend(stream, ops, attention)
        stream.update = self.feed_forward(stream, ops)

    def attend(self, stream: ResidualStream, ops: Ops, attention: Attention) -> Tensor:
        qkv, rotary = self.queries_keys_values(stream, ops)
        qkv = qkv.view(-1, 3, self.heads, self.head_dim)
        # The kernel applies the scale, in FP32: folded into FP16 weights, the small ones would underflow.
        context = attention(qkv, stream.layout, scale=self.head_dim**-0.5, rotary=rotary)
        out: Tensor = self.attention_output(context)
        return out

    def queries_keys_values(self, stream: ResidualStream, ops: Ops) -> tuple[Tensor, RotaryTables | None]:
        """q, k and v [T, 3 d], and the tables by which q and k are still to be rotated, if so.

        Before the first layer no token has seen another: it is enough to compute them once for each token of
        the vocabulary.
        """
        if stream.tokens is None:
            h = _next_norm(ops, stream, self.attention_norm, self.dtype)
            return ops.linear_rotated(self.qkv, h, stream.layout, stream.rotary)
        (tokens, embedding), stream.tokens = stream.tokens, None
        table: Tensor = self.qkv(ops.norm(embedding.padded(), self.attention_norm, self.dtype))
        return nn.functional.embedding(tokens, table), stream.rotary

    def feed_forward(self, stream: ResidualStream, ops: Ops) -> Tensor:
        # The norm is not kept by a name: what goes into fc1 must be gone before fc2 takes memory.
        h = ops.linear_gelu(self.fc1, _next_norm(ops, stream, self.feed_forward_norm, self.dtype))
        out: Tensor = self.fc2(h)
        return out


def _next_norm(ops: Ops, stream: ResidualStream, norm: LayerNorm, dtype: torch.dtype) -> Activations:
    """Add what is to be added, and normalise; before the first layer there is nothing to add."""
    update, stream.update = stream.update, None
    if update is None:
        return ops.norm(stream.x, norm, dtype)
    stream.x, h = ops.pre_norm(stream.x, update, norm, dtype)
    return h


def _pooled(last: Tensor, layout: SequenceLayout) -> Tensor:
    return segment_mean(last, layout, skip_first=1, skip_last=1, at_most=POOLED_RESIDUES)
