"""Tests batches that go through streamed layers together, and budgets smaller than the plan's."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from math import inf

import numpy as np
import pytest
import torch
from made_parts import random_frames, score
from torch import Tensor

from virnucpro_backend.encoders import mapped_layers
from virnucpro_backend.encoders.blocks import BLOCKS_PER_LAYER
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import MappedLayers, StepDone
from virnucpro_backend.encoders.packed_linear import PackedLinear
from virnucpro_backend.encoders.streamed_layers import SWEEP_BATCHES, SWEEP_TOKENS
from virnucpro_backend.inference.scorer import PartScorer, PartScores

MakeScorer = Callable[..., PartScorer]

CAN_PACK = torch.backends.mkldnn.is_available() and platform.machine() in ("x86_64", "AMD64")
CAN_PACK_BF16 = CAN_PACK and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def bytes_of(scores: PartScores) -> tuple[bytes, bytes, bytes]:
    return scores.score1.tobytes(), scores.score2.tobytes(), scores.state.tobytes()


def watched(scorer: PartScorer, limit: float = inf) -> list[list[int]]:
    """Return, as they come, the tokens of the batches that go through ESM-2 together; memory runs out above
    the limit."""
    seen: list[list[int]] = []
    embed_all = scorer.model.esm2.embed_all

    def limited(batches: Sequence[tuple[Tensor, SequenceLayout]], step_done: StepDone) -> list[Tensor]:
        sizes = [layout.n_tokens for _, layout in batches]
        seen.append(sizes)
        if sum(sizes) > limit:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return embed_all(batches, step_done)

    scorer.model.esm2.embed_all = limited  # type: ignore[method-assign]
    return seen


@pytest.mark.parametrize(
    ("placement", "precision", "tokens_per_batch", "most"),
    [
        ("streamed", "fp32", 300, None),
        ("streamed", "fp16", 2048, None),
        ("streamed", "fp32", 4096, None),
        ("streamed", "fp16", 4096, 512),
        ("mapped", "fp32", 512, None),
        ("mapped", "bf16", 2048, None),
        ("mapped", "fp32", 4096, 512),
    ],
)
def test_streamed_and_mapped_layers_change_no_byte(
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
    placement: str,
    precision: str,
    tokens_per_batch: int,
    most: int | None,
) -> None:
    monkeypatch.setattr(mapped_layers, "packing_is_faster", lambda _dtype: False)
    frames = random_frames(150, seed=31)
    sizes = {"tokens_per_batch": tokens_per_batch, "most_tokens_per_batch": most}
    expected = make_scorer(precision, **sizes).score(frames)
    scorer = make_scorer(precision, **sizes, **{placement: True})
    sweeps = watched(scorer)
    for _ in range(2):
        got, heard = score(scorer, frames)
        assert bytes_of(got) == bytes_of(expected)
        assert got.batch_halvings == expected.batch_halvings
        assert (got.batch_halvings > 0) == (most is not None)
        assert (heard.frames, heard.residues) == (150, len(frames.residues))
        assert sum(heard.steps) == pytest.approx(len(frames.residues))
        largest = max(heard.steps) * BLOCKS_PER_LAYER * len(scorer.model.esm2.layers)
        assert largest < len(frames.residues), "a step is a block of a batch, not of a sweep"
    assert max(len(sweep) for sweep in sweeps) > 1
    if placement == "mapped":
        assert max(sum(sweep) for sweep in sweeps) <= mapped_layers.SWEEP_TOKENS
    else:
        assert all(len(sweep) <= SWEEP_BATCHES for sweep in sweeps)
        room = min(SWEEP_TOKENS, SWEEP_BATCHES * (most or tokens_per_batch))
        assert all(len(sweep) == 1 or sum(sweep) <= room for sweep in sweeps)


def test_one_block_of_mapped_layers_at_a_time_is_in_the_runs_precision(make_scorer: MakeScorer) -> None:
    model = make_scorer("bf16", mapped=True).model
    for encoder in (model.esm2, model.dnabert_s):
        assert isinstance(encoder.layers, MappedLayers)
        assert len(encoder.layers) > 1
        tensors = [tensor for block in encoder.layers._tensors for tensor in block.values()]
        assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == 1


@pytest.mark.skipif(not CAN_PACK, reason="only oneDNN packs weights")
@pytest.mark.parametrize(
    ("precision", "tolerance"),
    [
        ("fp32", 1e-5),
        pytest.param("bf16", 5e-3, marks=pytest.mark.skipif(not CAN_PACK_BF16, reason="no BF16 here")),
    ],
)
def test_packed_weights_change_only_the_last_digits(
    make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch, precision: str, tolerance: float
) -> None:
    frames = random_frames(60, seed=36)
    expected = make_scorer(precision).score(frames)
    monkeypatch.setattr(mapped_layers, "packing_is_faster", lambda _dtype: True)
    scorer = make_scorer(precision, mapped=True)
    first, second = scorer.score(frames), scorer.score(frames)
    layers = scorer.model.esm2.layers
    assert isinstance(layers, MappedLayers)
    in_memory = [
        {name for name, linear in layers._packed.items() if linear.weight.numel()} for _ in layers.blocks()
    ]
    assert in_memory == [{"qkv", "attention_output"}, {"fc1", "fc2"}] * len(layers)
    assert not any(linear.weight.numel() for linear in layers._packed.values())
    assert bytes_of(first) == bytes_of(second), "the last layer's weights must not be left in the first"
    np.testing.assert_allclose(first.score1, expected.score1, atol=tolerance)


@pytest.mark.skipif(not CAN_PACK, reason="only oneDNN packs weights")
def test_a_row_of_a_packed_product_does_not_depend_on_the_other_rows() -> None:
    generator = torch.Generator().manual_seed(37)
    linear = torch.nn.Linear(320, 1280)
    packed = PackedLinear(linear)
    packed.pack(linear.weight.detach())
    x = torch.randn(512, 320, generator=generator)
    with torch.inference_mode():
        whole = packed(x)
        torch.testing.assert_close(whole, linear(x))
        for rows in (16, 42, 100, 168, 336, 504):
            assert torch.equal(packed(x[-rows:].clone()), whole[-rows:])


def test_a_sweep_that_runs_out_of_memory_is_split(make_scorer: MakeScorer) -> None:
    frames = random_frames(300, seed=32, shortest=50, longest=50)
    expected = make_scorer(tokens_per_batch=4096).score(frames)
    scorer = make_scorer(tokens_per_batch=4096, streamed=True)
    sweeps = watched(scorer, limit=2200)
    got, heard = score(scorer, frames)
    assert heard.cuts
    assert heard.frames == 300, "no batch counts twice"
    np.testing.assert_allclose(got.score2, expected.score2, atol=2e-6)
    assert 1 <= got.batch_halvings <= len(make_scorer(tokens_per_batch=4096).prepare(frames).esm2.batches)
    # The smaller budget also applies to the next part.
    sweeps.clear()
    assert score(scorer, frames)[1].cuts == []
    assert max(map(sum, sweeps)) <= 2200


def test_bf16_weights_have_the_same_bits_as_pytorchs() -> None:
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    numbers = every[~torch.isnan(every)].repeat(3).reshape(3, -1)
    converted = torch.empty_like(numbers, dtype=torch.bfloat16)
    mapped_layers.convert(numbers, converted)
    assert torch.equal(converted.view(torch.int16), numbers.bfloat16().view(torch.int16))
