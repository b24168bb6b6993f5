"""Tests with faulty encoders: out of memory, non-finite results, or results of improbable size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import torch
from made_parts import DEMO_MODEL, Heard, random_frames, score
from torch import Tensor

from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.memory.memory_profile import SMALLEST_BUDGET
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.weights.model_folder import LoadedModel, load_model
from virnucpro_backend.weights.model_json import NormBand

MakeScorer = Callable[..., PartScorer]


OUT_OF_MEMORY = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")


def limit_memory(scorer: PartScorer, most_tokens: int, error: Exception = OUT_OF_MEMORY) -> list[int]:
    """Make ESM-2 fail above this many tokens; return, as they come, the sizes of the batches that fitted."""
    embed = scorer.model.esm2.embed
    sizes: list[int] = []

    def limited(tokens: Tensor, layout: SequenceLayout) -> Tensor:
        if layout.n_tokens > most_tokens:
            raise error
        sizes.append(layout.n_tokens)
        return embed(tokens, layout)

    scorer.model.esm2.embed = limited  # type: ignore[method-assign]
    return sizes


def test_the_budget_is_halved_and_stays_halved(make_scorer: MakeScorer) -> None:
    frames = random_frames(300, seed=20, shortest=100, longest=103)
    expected = make_scorer(tokens_per_batch=4096).score(frames)
    scorer = make_scorer(tokens_per_batch=4096)
    sizes = limit_memory(scorer, 1100)
    result, heard = score(scorer, frames)
    np.testing.assert_allclose(result.score2, expected.score2, atol=2e-6)
    assert expected.batch_halvings == 0
    assert result.batch_halvings > 0
    assert max(sizes) <= 1100
    befores, afters = zip(*heard.cuts, strict=True)
    assert befores[0] == 4096
    assert befores[1:] == afters[:-1]
    assert afters[-1] <= 1100
    assert all(after <= before // 2 for before, after in heard.cuts)

    second, heard = score(scorer, frames)
    assert heard.cuts == []
    assert second.batch_halvings > 0
    np.testing.assert_allclose(second.score2, expected.score2, atol=2e-6)
    assert scorer.score(frames.subset(np.arange(5))).batch_halvings == 0, "it is within the budget"


def test_below_the_floor_the_part_fails(make_scorer: MakeScorer) -> None:
    scorer, heard = make_scorer(tokens_per_batch=4096), Heard()
    limit_memory(scorer, 10)
    with pytest.raises(PartFailedError) as failure:
        scorer.launch(scorer.prepare(random_frames(200, seed=22, shortest=60, longest=60)), heard)
    assert failure.value.code == "out_of_memory"
    assert min(after for _, after in heard.cuts) >= SMALLEST_BUDGET


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
)
def test_every_out_of_memory_error_is_recognised(make_scorer: MakeScorer, error: Exception) -> None:
    scorer = make_scorer(tokens_per_batch=2048)
    limit_memory(scorer, 2 * SMALLEST_BUDGET, error)
    assert scorer.score(random_frames(60, seed=23, shortest=60, longest=62)).batch_halvings >= 1


def test_other_errors_do_not_count_as_out_of_memory(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    limit_memory(scorer, 0, RuntimeError("shape mismatch"))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        scorer.score(random_frames(5, seed=24))


def poison(model: LoadedModel, length: int, value: float = float("nan")) -> LoadedModel:
    """Make ESM-2 return this value for every protein of this many residues."""
    embed = model.esm2.embed

    def poisoned(tokens: Tensor, layout: SequenceLayout) -> Tensor:
        pooled = embed(tokens, layout)
        pooled[torch.tensor([n == length + 2 for n in layout.lengths])] = value
        return pooled

    model.esm2.embed = poisoned  # type: ignore[method-assign]
    return model


FRAMES = random_frames(90, seed=25, shortest=30, longest=40)
BAD = FRAMES.residue_counts == 33


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_non_finite_frames_are_recomputed_in_fp32(make_scorer: MakeScorer, value: float) -> None:
    assert 0 < BAD.sum() < 90
    in_fp32, in_bf16 = make_scorer("fp32").score(FRAMES), make_scorer("bf16").score(FRAMES)
    scorer = make_scorer("bf16", embeddings="fp32")
    poison(scorer.model, 33, value)
    result = scorer.score(FRAMES)
    assert result.state.tolist() == BAD.astype(int).tolist()
    assert (result.recomputed, result.failed) == (BAD.sum(), 0)
    np.testing.assert_allclose(result.score2[BAD], in_fp32.score2[BAD], atol=2e-6)
    np.testing.assert_array_equal(result.score2[~BAD], in_bf16.score2[~BAD])
    assert result.embeddings is not None
    assert np.isfinite(result.embeddings["esm2"]).all()


def test_only_frames_that_stay_non_finite_fail(make_scorer: MakeScorer) -> None:
    scorer = make_scorer("bf16", load_fp32=lambda device: poison(load_model(DEMO_MODEL, device, "fp32"), 33))
    poison(scorer.model, 33)
    result = scorer.score(FRAMES)
    assert result.state.tolist() == (2 * BAD).tolist()
    assert (result.recomputed, result.failed) == (0, BAD.sum())
    for scores in (result.score1, result.score2):
        assert np.isnan(scores[BAD]).all()
        assert np.isfinite(scores[~BAD]).all()


def test_an_fp32_run_computes_nothing_twice(make_scorer: MakeScorer) -> None:
    def never(device: torch.device) -> LoadedModel:
        raise AssertionError("loaded a second time")

    scorer = make_scorer("fp32", load_fp32=never)
    poison(scorer.model, 33)
    scored = scorer.score(FRAMES)
    assert scored.failed == BAD.sum()
    assert scored.norms is not None
    assert np.isfinite((scored.norms.esm2, scored.norms.dnabert_s)).all(), "failed frames have none"


def test_too_little_memory_for_the_fp32_model_is_reported(make_scorer: MakeScorer) -> None:
    def too_large(device: torch.device) -> LoadedModel:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    scorer = make_scorer("bf16", load_fp32=too_large)
    poison(scorer.model, 33)
    with pytest.raises(PartFailedError, match="too little memory") as failure:
        scorer.score(FRAMES)
    assert failure.value.code == "non_finite"


@pytest.mark.parametrize("outside", [1, 40, 200])
def test_norms_outside_their_band_are_counted_and_scored(make_scorer: MakeScorer, outside: int) -> None:
    frames = random_frames(200, seed=26, shortest=30, longest=60)
    scorer = make_scorer(embeddings="fp32")
    plain = scorer.score(frames)
    assert plain.embeddings is not None
    assert plain.norms is not None
    assert plain.outside_norm_band == 0
    norms = np.sort(np.linalg.norm(plain.embeddings["esm2"], axis=1))
    assert plain.norms.esm2 == pytest.approx((norms[0], norms[-1]))
    low = float(norms[outside - 1] + norms[outside]) / 2 if outside < 200 else float(norms[-1]) + 1
    bands = {"esm2": NormBand(low, 1e9), "dnabert_s": NormBand(0.0, 1e9)}
    scorer.model = dataclasses.replace(scorer.model, norm_bands=bands)
    scored = scorer.score(frames)
    assert scored.outside_norm_band == outside
    assert scored.failed == 0
    np.testing.assert_array_equal(scored.score2, plain.score2)
