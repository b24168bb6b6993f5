"""Tests batches that go through streamed layers together, and budgets smaller than the plan's."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from made_parts import DEMO_MODEL, random_frames
from torch import Tensor

from virnucpro_backend.encoders import mapped_layers
from virnucpro_backend.encoders.blocks import BLOCKS_PER_LAYER
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import MappedLayers, StepDone
from virnucpro_backend.encoders.packed_linear import PackedLinear
from virnucpro_backend.encoders.streamed_layers import SWEEP_BATCHES, SWEEP_TOKENS
from virnucpro_backend.inference.encoding import PartListener
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.scorer import PartScorer, PartScores
from virnucpro_backend.weights.model_folder import load_model

MakeScorer = Callable[..., PartScorer]

CAN_PACK = torch.backends.mkldnn.is_available() and platform.machine() in ("x86_64", "AMD64")
CAN_PACK_BF16 = CAN_PACK and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def streamed_model(precision: str = "fp32"):  # type: ignore[no-untyped-def]
    return load_model(DEMO_MODEL, "cpu", precision, streamed=True)  # type: ignore[arg-type]


def bytes_of(scores: PartScores) -> tuple[bytes, bytes, bytes]:
    return scores.score1.tobytes(), scores.score2.tobytes(), scores.state.tobytes()


def mapped_model(precision: str = "fp32"):  # type: ignore[no-untyped-def]
    return load_model(DEMO_MODEL, "cpu", precision, mapped=True)  # type: ignore[arg-type]


class Sweeps:
    """Records the tokens of the batches that went through ESM-2 together."""

    def __init__(self, scorer: PartScorer, limit: int | None = None) -> None:
        self.seen: list[list[int]] = []
        esm2 = scorer.model.esm2
        embed_all = esm2.embed_all

        def watched(batches: Sequence[tuple[Tensor, SequenceLayout]], step_done: StepDone) -> list[Tensor]:
            sizes = [layout.n_tokens for _, layout in batches]
            self.seen.append(sizes)
            if limit is not None and sum(sizes) > limit:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return embed_all(batches, step_done)

        esm2.embed_all = watched  # type: ignore[method-assign]


class Heard(PartListener):
    def __init__(self) -> None:
        self.frames = self.residues = 0
        self.steps: list[float] = []
        self.cuts: list[tuple[int, int]] = []

    def batch_done(self, frames: int, residues: int) -> None:
        self.frames += frames
        self.residues += residues

    def step_done(self, residues: float) -> None:
        self.steps.append(residues)

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        self.cuts.append((tokens_before, tokens_after))


@pytest.mark.parametrize(
    ("precision", "tokens_per_batch", "most"),
    [("fp32", 300, None), ("fp16", 2048, None), ("fp32", 4096, None), ("fp16", 4096, 512)],
)
def test_streamed_layers_change_no_byte(
    make_scorer: MakeScorer, precision: str, tokens_per_batch: int, most: int | None
) -> None:
    frames = random_frames(150, seed=31)
    sizes = {"tokens_per_batch": tokens_per_batch, "most_tokens_per_batch": most}
    expected = make_scorer(precision, **sizes).score(frames)
    scorer = make_scorer(precision, model=streamed_model(precision), **sizes)
    sweeps, heard = Sweeps(scorer), Heard()
    got = scorer.collect(scorer.launch(scorer.prepare(frames), heard))
    assert bytes_of(got) == bytes_of(expected)
    assert got.batch_halvings == expected.batch_halvings
    assert (got.batch_halvings > 0) == (most is not None)
    assert (heard.frames, heard.residues) == (150, len(frames.residues))
    assert all(len(sweep) <= SWEEP_BATCHES for sweep in sweeps.seen)
    assert max(len(sweep) for sweep in sweeps.seen) > 1
    room = SWEEP_BATCHES * (most or tokens_per_batch)
    assert all(len(sweep) == 1 or sum(sweep) <= min(SWEEP_TOKENS, room) for sweep in sweeps.seen)


@pytest.mark.parametrize(
    ("precision", "tokens_per_batch", "most"),
    [("fp32", 512, None), ("bf16", 2048, None), ("fp32", 4096, 512)],
)
def test_mapped_layers_change_no_byte(
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
    precision: str,
    tokens_per_batch: int,
    most: int | None,
) -> None:
    monkeypatch.setattr(mapped_layers, "packing_is_faster", lambda _dtype: False)
    frames = random_frames(150, seed=35)
    sizes = {"tokens_per_batch": tokens_per_batch, "most_tokens_per_batch": most}
    expected = make_scorer(precision, **sizes).score(frames)
    model = mapped_model(precision)
    for encoder in (model.esm2, model.dnabert_s):
        layers = encoder.layers
        assert isinstance(layers, MappedLayers)
        assert len(layers) > 1
        places = {
            tensor.untyped_storage().data_ptr() for block in layers._tensors for tensor in block.values()
        }
        assert len(places) == 1, "one block at a time is in the run's precision"
    scorer, heard = make_scorer(precision, model=model, **sizes), Heard()
    sweeps = Sweeps(scorer)
    for _ in range(2):
        got = scorer.collect(scorer.launch(scorer.prepare(frames), heard))
        assert bytes_of(got) == bytes_of(expected)
        assert got.batch_halvings == expected.batch_halvings
    assert max(len(sweep) for sweep in sweeps.seen) > 1
    assert max(sum(sweep) for sweep in sweeps.seen) <= mapped_layers.SWEEP_TOKENS
    assert sum(heard.steps) == pytest.approx(2 * len(frames.residues))
    largest = max(heard.steps) * BLOCKS_PER_LAYER * len(model.esm2.layers)
    assert largest < len(frames.residues), "a step is a block of a batch, not of a sweep"


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
    scorer = make_scorer(precision, model=mapped_model(precision))
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
    scorer = make_scorer(tokens_per_batch=4096, model=streamed_model())
    sweeps, heard = Sweeps(scorer, limit=2200), Heard()
    got = scorer.collect(scorer.launch(scorer.prepare(frames), heard))
    assert heard.cuts
    assert heard.frames == 300, "no batch counts twice"
    np.testing.assert_allclose(got.score2, expected.score2, atol=2e-6)
    assert 1 <= got.batch_halvings <= len(make_scorer(tokens_per_batch=4096).prepare(frames).esm2.batches)
    # The smaller budget also applies to the next part.
    before = len(sweeps.seen)
    again = Heard()
    scorer.collect(scorer.launch(scorer.prepare(frames), again))
    assert again.cuts == []
    assert max(map(sum, sweeps.seen[before:])) <= 2200


def test_a_device_too_small_for_any_batch_fails_the_part(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(tokens_per_batch=4096, model=streamed_model())
    Sweeps(scorer, limit=100)
    with pytest.raises(PartFailedError) as failure:
        scorer.score(random_frames(300, seed=33, shortest=50, longest=50))
    assert failure.value.code == "out_of_memory"


def test_bf16_weights_have_the_same_bits_as_pytorchs() -> None:
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    numbers = every[~torch.isnan(every)].repeat(3).reshape(3, -1)
    converted = torch.empty_like(numbers, dtype=torch.bfloat16)
    mapped_layers.convert(numbers, converted)
    assert torch.equal(converted.view(torch.int16), numbers.bfloat16().view(torch.int16))
