"""ESM-2 (Lin et al. 2023, doi:10.1126/science.ade2574), a protein language model, any size, without heads.

Hidden states are flat: x [T, d] holds the tokens of all sequences of a batch end to end, without padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.attention import Attention, choose_attention
from virnucpro_backend.encoders.blocks import BLOCKS_PER_LAYER, Block, LayerOfBlocks, blocks_of
from virnucpro_backend.encoders.float32 import Embedding, LayerNorm, QueriesKeysValues, Rotary, RotaryTables
from virnucpro_backend.encoders.fp8 import Activations, Fp8Linear
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import MappedLayers, StepDone, ignore_step
from virnucpro_backend.encoders.ops import Ops, choose_ops
from virnucpro_backend.encoders.pooling import segment_mean

VOCABULARY = 33
NORM_EPS = 1e-5
POOLED_RESIDUES = 1024

TOKEN_DROPOUT_SCALE = 1 - 0.15 * 0.8
"""In training 15 % of tokens were masked, 80 % of these by zeros; without masks, embeddings are scaled."""


@dataclass(frozen=True)
class Esm2Config:
    """Sizes of an ESM-2."""

    layers: int
    width: int
    heads: int
    feed_forward: int

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads

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


class Layers(Protocol):
    """The layers of an ESM-2 in order, wherever their weights are."""

    streamed: bool
    """Whether the weights are in main memory and are copied to the device layer by layer."""

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        ...

    def __len__(self) -> int: ...

    def blocks(self) -> Iterator[Through]:
        """Yield what takes a batch through each block of each layer, valid until the next is requested."""
        ...


class Esm2(nn.Module):
    """ESM-2 up to its final LayerNorm.

    `layers` are on the device, or are copied to it one by one (`streamed_layers`). The embedding table holds
    the published numbers times TOKEN_DROPOUT_SCALE (see `weights`), as the published model effectively
    does for every input without `<mask>`.
    """

    def __init__(self, config: Esm2Config, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(VOCABULARY, config.width)
        self.rotary = Rotary(config.head_dim)
        self.layers: Layers = ResidentLayers(Esm2Layer(config, dtype) for _ in range(config.layers))
        self.final_norm = LayerNorm(config.width, NORM_EPS)
        self.requires_grad_(False)
        self.use_kernels_for(torch.device("cpu"))

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self.layers.dtype

    @property
    def streamed(self) -> bool:
        """Whether the layers' weights are in main memory."""
        return self.layers.streamed

    @property
    def resident_layers(self) -> ResidentLayers:
        """The layers, unless streamed or mapped ones have taken their place."""
        assert isinstance(self.layers, ResidentLayers)
        return self.layers

    @property
    def mapped(self) -> bool:
        """Whether the layers' weights stay in their file."""
        return isinstance(self.layers, MappedLayers)

    def use_kernels_for(self, device: torch.device, *, fused: bool = True) -> None:
        """Choose the kernels that suit the device and this model's precision."""
        self.ops: Ops = choose_ops(device, self.dtype, fused=fused)
        self.attention: Attention = choose_attention(
            device, self.dtype, head_dim=self.config.head_dim, fused=fused, alibi=False
        )

    def to_fp8(self) -> None:
        """Replace the linear layers by FP8 ones, in place, on the device where they are."""
        for layer in self.resident_layers:
            layer.to_fp8(self.ops)
        self.use_kernels_for(self.embedding.weight.device)

    @torch.inference_mode()
    def forward(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Map tokens int [T] to the last representation, after the final LayerNorm, FP32 [T, d]."""
        x = self._embedded(tokens, layout)
        for through in self.layers.blocks():
            x = through(x, self.ops, self.attention)
        return self._last(x)

    @torch.inference_mode()
    def embed(self, tokens: Tensor, layout: SequenceLayout) -> Tensor:
        """Map tokens int [T], `<cls> residues <eos>` per sequence, to FP32 [n, d].

        The result is the mean over at most the first 1,024 residues, without `<cls>` and `<eos>`.
        """
        return _pooled(self(tokens, layout), layout)

    @torch.inference_mode()
    def embed_all(
        self, batches: Sequence[tuple[Tensor, SequenceLayout]], step_done: StepDone = ignore_step
    ) -> list[Tensor]:
        """Return what `embed` gives for each batch; all batches go through one block before the next.

        So streamed layers are copied to the device once for all batches, while the batches compute, and
        mapped ones are converted once for all. `step_done` is called after each block of each batch.
        """
        streams = [self._embedded(tokens, layout) for tokens, layout in batches]
        for through in self.layers.blocks():
            for number, x in enumerate(streams):
                streams[number] = through(x, self.ops, self.attention)
                step_done(1 / (BLOCKS_PER_LAYER * len(self.layers) * len(streams)))
        return [_pooled(self._last(x), x.layout) for x in streams]

    def _embedded(self, tokens: Tensor, layout: SequenceLayout) -> ResidualStream:
        return EmbeddedTokens(tokens, self.embedding, layout, self.rotary.tables(layout.max_length))

    def _last(self, x: ResidualStream) -> Tensor:
        return cast(Tensor, x.normed(self.final_norm, self.ops, torch.float32))


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

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        weight: Tensor = self.qkv.weight
        return weight.dtype

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
        context = attention(qkv, x.layout, scale=self.head_dim**-0.5, rotary=rotary)
        out: Tensor = self.attention_output(context)
        return out

    def feed_forward(self, x: ResidualStream, ops: Ops) -> Tensor:
        """Compute W2 gelu(W1 LN x), [T, d] in the run's precision."""
        # LN x gets no name, so that its memory is free before fc2 allocates.
        h = ops.linear_gelu(self.fc1, x.normed(self.feed_forward_norm, ops, self.dtype))
        out: Tensor = self.fc2(h)
        return out


class ResidentLayers(nn.ModuleList):
    """Layers that are all on the device."""

    streamed = False

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return next(iter(self)).dtype

    def __iter__(self) -> Iterator[Esm2Layer]:
        return cast(Iterator[Esm2Layer], super().__iter__())

    def blocks(self) -> Iterator[Through]:
        """See `Layers.blocks`."""
        return blocks_of(self)


def _pooled(last: Tensor, layout: SequenceLayout) -> Tensor:
    return segment_mean(last, layout, skip_first=1, skip_last=1, at_most=POOLED_RESIDUES)
