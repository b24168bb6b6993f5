from __future__ import annotations

import weakref

import pytest
import torch
from agreement import TOLERANCE, WAYS, as_token_sequences, run, worst_difference
from random_weights import hugging_face_esm2, our_esm2, random_sequences
from torch import Tensor

from virnucpro_backend.encoders.batches import equal_length_batches
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.layout import SequenceLayout

CONFIGS = [Esm2Config(2, 32, 2, 128), Esm2Config(3, 80, 5, 320), Esm2Config(4, 128, 2, 512)]
LENGTHS = [3, 12, 57, 3, 172, 57, 40, 168, 168, 99]


def sequences_of(lengths: list[int]) -> list[Tensor]:
    return random_sequences(lengths, range(4, 31), (0, 2), seed=1)


@torch.no_grad()
def published_representation(theirs: torch.nn.Module, tokens: Tensor) -> Tensor:
    hidden: Tensor = theirs.esm(tokens[None].long(), torch.ones(1, len(tokens))).last_hidden_state[0]  # type: ignore[operator, union-attr]
    return hidden


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_agrees_with_hugging_face_however_it_is_batched(config: Esm2Config) -> None:
    theirs = hugging_face_esm2(config, seed=7)
    ours = our_esm2(theirs, config)
    sequences = sequences_of(LENGTHS)
    expected = torch.stack([published_representation(theirs, s)[1:-1].mean(dim=0) for s in sequences])
    results = [way(ours, as_token_sequences(sequences, filler=4)) for way in WAYS]
    for result in results:
        assert worst_difference(result, expected) < TOLERANCE
    for result in results[1:]:
        assert worst_difference(result, results[0]) < TOLERANCE


def test_only_the_first_1024_residues_are_pooled() -> None:
    theirs = hugging_face_esm2(CONFIGS[0], seed=9)
    tokens = sequences_of([1102])[0]
    expected = published_representation(theirs, tokens)[1:1025].mean(dim=0)
    layout = SequenceLayout.from_lengths([1102], "cpu")
    assert worst_difference(our_esm2(theirs, CONFIGS[0]).embed(tokens, layout)[0], expected) < TOLERANCE


@pytest.mark.parametrize(
    ("dtype", "allowed"), [(torch.bfloat16, 2e-2), (torch.float16, 2e-3)], ids=["bf16", "fp16"]
)
def test_half_precision_is_close_and_everything_around_the_products_stays_fp32(
    dtype: torch.dtype, allowed: float
) -> None:
    config = CONFIGS[1]
    theirs = hugging_face_esm2(config, seed=10)
    tokens = as_token_sequences(sequences_of(LENGTHS), filler=4)
    batches = equal_length_batches(tokens.lengths, 512)
    half, full = our_esm2(theirs, config, dtype), our_esm2(theirs, config)
    assert {p.dtype for n, p in half.named_parameters() if "norm" in n or "embedding" in n} == {torch.float32}
    got, expected = run(half, tokens, batches), run(full, tokens, batches)
    assert got.dtype == torch.float32
    relative = (got - expected).norm(dim=1) / expected.norm(dim=1)
    assert 0 < float(relative.max()) < allowed


def test_the_stored_rotary_frequencies_are_used() -> None:
    """Published files store them rounded to FP16, and the reference that reads them uses those numbers."""
    config = CONFIGS[1]
    theirs = hugging_face_esm2(config, seed=11)
    rotary = [buffer for name, buffer in theirs.named_buffers() if name.endswith("inv_freq")]
    assert rotary
    for buffer in rotary:
        buffer.copy_(buffer.half().float())
    tokens = sequences_of([160])[0]
    stored, recomputed = our_esm2(theirs, config), our_esm2(theirs, config)
    recomputed.rotary = Esm2(config).rotary
    expected = published_representation(theirs, tokens)
    assert worst_difference(representation(stored, tokens), expected) < TOLERANCE
    assert worst_difference(representation(recomputed, tokens), expected) > 10 * TOLERANCE


@torch.inference_mode()
def representation(model: Esm2, tokens: Tensor) -> Tensor:
    """The last hidden states of one sequence: a mean over its tokens hides small differences."""
    x = model.embedded(tokens, SequenceLayout.from_lengths([len(tokens)], "cpu"))
    for through in model.layers.blocks():
        x = model.after(through, x)
    return x.normed(model.final_norm, model.ops, torch.float32)  # type: ignore[return-value]


def test_the_first_layer_computes_queries_keys_and_values_once_per_token_of_the_vocabulary() -> None:
    config = CONFIGS[1]
    model = our_esm2(hugging_face_esm2(config, seed=12), config)
    rows: list[list[int]] = [[] for _ in model.resident_layers]
    for layer, seen in zip(model.resident_layers, rows, strict=True):
        layer.qkv.register_forward_pre_hook(lambda _, inputs, seen=seen: seen.append(len(inputs[0])))
    tokens = torch.cat(sequences_of([60] * 5))
    model.embed(tokens, SequenceLayout.from_lengths([60] * 5, "cpu"))
    assert rows == [[48], *[[300]] * (config.layers - 1)]


def test_the_input_of_fc1_is_freed_before_fc2_allocates() -> None:
    model = Esm2(CONFIGS[0])
    layer = model.resident_layers[0]
    into_fc1: list[weakref.ref[Tensor]] = []
    left_at_fc2: list[Tensor | None] = []
    layer.fc1.register_forward_pre_hook(lambda _, inputs: into_fc1.append(weakref.ref(inputs[0])))
    layer.fc2.register_forward_pre_hook(lambda *_: left_at_fc2.append(into_fc1[-1]()))
    model.embed(torch.cat(sequences_of([60])), SequenceLayout.from_lengths([60], "cpu"))
    assert left_at_fc2 == [None]
