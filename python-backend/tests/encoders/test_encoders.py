"""Encoders of random weights agree with independent implementations, however sequences are batched."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
import torch
from plain_dnabert_s import PUBLISHED_SLOPES_12, plain_dnabert_s
from random_weights import (
    CPU,
    dnabert_s_tensors,
    hugging_face_esm2,
    our_esm2,
    random_head,
    random_sequences,
)
from torch import Tensor

from virnucpro_backend.encoders.attention import EqualLengthAttention, StretchAttention, rotate
from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig, alibi_slopes
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.head import Head
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.tokens import TokenSequences
from virnucpro_backend.weights.formats.checkpoints import Checkpoint
from virnucpro_backend.weights.formats.names import dnabert_s_state
from virnucpro_backend.weights.model_folder import fill

TOLERANCE = 1e-5
"""The largest difference of a number, as a fraction of its row's norm."""

Config = Esm2Config | DnabertSConfig
ESM2 = Esm2Config(3, 80, 5, 320)
DNABERT_S = DnabertSConfig(3, 96, 12, 160, 300)
CONFIGS = [
    Esm2Config(2, 32, 2, 128),
    ESM2,
    Esm2Config(4, 128, 2, 512),
    DnabertSConfig(2, 32, 2, 64, 50),
    DNABERT_S,
    DnabertSConfig(2, 90, 3, 128, 120),
]


def proteins(*lengths: int) -> list[Tensor]:
    return random_sequences(lengths, range(4, 31), (0, 2), seed=1)


def sequences_for(config: Config) -> TokenSequences:
    if isinstance(config, Esm2Config):
        filler, sequences = 4, proteins(3, 12, 57, 3, 172, 57, 40, 168, 168, 99)
    else:
        lengths = [2, 9, 104, 61, 9, 106, 104, 33]
        filler, sequences = 3, random_sequences(lengths, range(5, config.vocabulary), (1, 2), seed=2)
    return TokenSequences(torch.cat(sequences).numpy(), np.cumsum([0, *map(len, sequences)]), filler)


def encoder_of(config: Config, dtype: torch.dtype = torch.float32) -> Esm2 | DnabertS:
    if isinstance(config, Esm2Config):
        return our_esm2(hugging_face_esm2(config, seed=7), config, dtype)
    dnabert_s, tensors = DnabertS(config, dtype), dnabert_s_tensors(config, seed=3)
    fill(dnabert_s, dnabert_s_state(Checkpoint("random", tensors, {}), config), CPU, "random")
    return dnabert_s


@torch.no_grad()
def published_representation(theirs: torch.nn.Module, tokens: Tensor) -> Tensor:
    hidden: Tensor = theirs.esm(tokens[None].long(), torch.ones(1, len(tokens))).last_hidden_state[0]
    return hidden


def expected_from(config: Config, tokens: Tensor) -> Tensor:
    """Embed one sequence with another implementation and the weights of `encoder_of`."""
    if isinstance(config, Esm2Config):
        return published_representation(hugging_face_esm2(config, seed=7), tokens)[1:-1].mean(dim=0)
    tensors = dnabert_s_tensors(config, seed=3)
    return plain_dnabert_s(tensors, config.layers, config.heads, tokens).mean(dim=0)


def run(encoder: Esm2 | DnabertS, sequences: TokenSequences, batches: list[Batch]) -> Tensor:
    """Embed batch by batch; return embeddings in the order of the sequences."""
    out = torch.full((len(sequences.lengths), encoder.config.width), float("nan"))
    for batch in batches:
        layout = SequenceLayout.from_lengths(batch.lengths, "cpu")
        rows = encoder.embed(torch.from_numpy(sequences.of_batch(batch)), layout)
        out[batch.members] = rows[: len(batch.members)]
    return out


def worst_difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest absolute difference in units of the reference row's norm."""
    norms = theirs.double().norm(dim=-1, keepdim=True)
    return float(((ours.double() - theirs.double()).abs() / norms).max())


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_agrees_with_an_independent_implementation_however_it_is_batched(config: Config) -> None:
    sequences, encoder = sequences_for(config), encoder_of(config)
    lengths = sequences.lengths
    tokens = torch.from_numpy(sequences.tokens).split(lengths.tolist())
    expected = torch.stack([expected_from(config, each) for each in tokens])
    results = []
    for attention, batches in (
        (StretchAttention(), packed_batches(lengths, 256)),
        (EqualLengthAttention(), equal_length_batches(lengths, 256)),
        (EqualLengthAttention(), [Batch(np.array([i]), np.array([n])) for i, n in enumerate(lengths)]),
    ):
        encoder.attention = attention
        results.append(run(encoder, sequences, batches))
        assert worst_difference(results[-1], expected) < TOLERANCE
        assert worst_difference(results[-1], results[0]) < TOLERANCE


@pytest.mark.parametrize(
    ("config", "dtype", "allowed"),
    [
        (ESM2, torch.bfloat16, 2e-2),
        (ESM2, torch.float16, 2e-3),
        (DNABERT_S, torch.bfloat16, 3e-2),
        (DNABERT_S, torch.float16, 3e-3),
    ],
    ids=str,
)
def test_half_precision_is_close(config: Config, dtype: torch.dtype, allowed: float) -> None:
    sequences = sequences_for(config)
    batches = equal_length_batches(sequences.lengths, 512)
    got, expected = (run(encoder_of(config, each), sequences, batches) for each in (dtype, torch.float32))
    relative = (got - expected).norm(dim=1) / expected.norm(dim=1)
    assert 0 < float(relative.max()) < allowed


def test_slopes_of_the_published_model() -> None:
    assert alibi_slopes(12) == pytest.approx(PUBLISHED_SLOPES_12, abs=5e-7)


def test_only_the_first_1024_residues_are_pooled() -> None:
    theirs = hugging_face_esm2(ESM2, seed=9)
    tokens = proteins(1102)[0]
    expected = published_representation(theirs, tokens)[1:1025].mean(dim=0)
    assert worst_difference(our_esm2(theirs, ESM2).embed(tokens, alone(tokens))[0], expected) < TOLERANCE


def alone(tokens: Tensor) -> SequenceLayout:
    return SequenceLayout.from_lengths([len(tokens)], "cpu")


def test_the_stored_rotary_frequencies_are_used() -> None:
    """Published files store them rounded to FP16, and the reference that reads them uses those numbers."""
    theirs = hugging_face_esm2(ESM2, seed=11)
    rotary = [buffer for name, buffer in theirs.named_buffers() if name.endswith("inv_freq")]
    assert rotary
    for buffer in rotary:
        buffer.copy_(buffer.half().float())
    tokens = proteins(160)[0]
    stored, recomputed = our_esm2(theirs, ESM2), our_esm2(theirs, ESM2)
    recomputed.rotary = Esm2(ESM2).rotary
    expected = published_representation(theirs, tokens)
    assert worst_difference(representation(stored, tokens), expected) < TOLERANCE
    assert worst_difference(representation(recomputed, tokens), expected) > 10 * TOLERANCE


@torch.inference_mode()
def representation(model: Esm2, tokens: Tensor) -> Tensor:
    """The last hidden states of one sequence: a mean over its tokens hides small differences."""
    x = model.embedded(tokens, alone(tokens))
    for through in model.layers.blocks():
        x = model.after(through, x)
    return x.normed(model.final_norm, model.ops, torch.float32)


def test_the_first_layer_computes_queries_keys_and_values_once_per_token_of_the_vocabulary() -> None:
    model = Esm2(ESM2)
    rows: list[list[int]] = [[] for _ in model.resident_layers]
    for layer, seen in zip(model.resident_layers, rows, strict=True):
        layer.qkv.register_forward_pre_hook(lambda _, inputs, seen=seen: seen.append(len(inputs[0])))
    model.embed(torch.cat(proteins(*[60] * 5)), SequenceLayout.from_lengths([60] * 5, "cpu"))
    assert rows == [[48], *[[300]] * (ESM2.layers - 1)]


def test_the_input_of_fc1_is_freed_before_fc2_allocates() -> None:
    model = Esm2(ESM2)
    layer = model.resident_layers[0]
    into_fc1: list[weakref.ref[Tensor]] = []
    left_at_fc2: list[Tensor | None] = []
    layer.fc1.register_forward_pre_hook(lambda _, inputs: into_fc1.append(weakref.ref(inputs[0])))
    layer.fc2.register_forward_pre_hook(lambda *_: left_at_fc2.append(into_fc1[-1]()))
    tokens = proteins(60)[0]
    model.embed(tokens, alone(tokens))
    assert left_at_fc2 == [None]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_rotary_angles_stay_fp32_when_the_model_is_cast(dtype: torch.dtype) -> None:
    esm2 = Esm2(ESM2).to(dtype)
    assert esm2.dtype == dtype
    cos, sin = (table[:1025] for table in esm2.rotary.tables(1025))
    assert cos.dtype == sin.dtype == torch.float32
    frequencies = 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    angles = torch.arange(1025, dtype=torch.float64)[:, None] * frequencies
    assert float((cos - angles.cos()).abs().max()) < 1e-4
    # The rotation itself must round only once, at the end.
    x = torch.randn(1025, 16, generator=torch.Generator().manual_seed(3)).to(dtype)
    first, second = x.double().chunk(2, dim=1)
    exact = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=1)
    off_by = (rotate(x, cos, sin).double() - exact).abs() / exact.abs().clamp(min=0.1)
    assert float(off_by.max()) <= torch.finfo(dtype).eps


def test_no_forward_pass_records_gradients() -> None:
    tokens, head = proteins(20)[0], Head(random_head(ESM2.width + DNABERT_S.width).state_dict())
    encoders = [encoder_of(config) for config in (DNABERT_S, ESM2)]
    with torch.enable_grad():
        embeddings = [encoder.embed(tokens, alone(tokens)) for encoder in encoders]
        results = [*embeddings, *head.score(*embeddings)]
    assert not any(result.requires_grad for result in results)
    assert not any(p.requires_grad for module in (*encoders, head) for p in module.parameters())
