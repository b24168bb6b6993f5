"""Tests on which GPUs the entire published model fits. No memory is allocated: only sizes matter."""

from __future__ import annotations

import pytest

from virnucpro_backend.encoders.dnabert_s import DNABERT_S
from virnucpro_backend.encoders.esm2 import ESM2_3B
from virnucpro_backend.inference.memory.memory_profile import SPARE_BYTES
from virnucpro_backend.inference.memory.model_memory import (
    MAIN_MEMORY_LEFT,
    WORTHWHILE_BATCH,
    ModelSizes,
    main_memory_suffices,
    placements_to_try,
)
from virnucpro_backend.weights.model_json import ModelDescription

GIB = 1 << 30
CUDA_ITSELF = GIB // 2
"""GPU memory that a process takes before it has any tensor there: 0.3 to 0.5 GiB."""


PUBLISHED = ModelDescription("500", "", None, 500, {}, ESM2_3B, DNABERT_S, None)


@pytest.mark.parametrize(
    ("card_gib", "precision", "first"),
    [
        (4, "bf16", "streamed"),
        (6, "fp16", "streamed"),
        (8, "fp16", "resident"),
        (8, "bf16", "resident"),
        (8, "fp32", "streamed"),
        (12, "fp16", "resident"),
        (11, "fp32", "streamed"),
        (16, "fp32", "resident"),
    ],
)
def test_placement_of_the_published_model_by_gpu(card_gib: int, precision: str, first: str) -> None:
    sizes = ModelSizes.of(PUBLISHED, precision)  # type: ignore[arg-type]
    assert placements_to_try("auto", sizes, card_gib * GIB - CUDA_ITSELF)[0] == first
    for forced in ("resident", "streamed"):
        assert placements_to_try(forced, sizes, 2 * GIB) == [forced]  # type: ignore[arg-type]


def test_sizes_of_the_published_model() -> None:
    half, full = ModelSizes.of(PUBLISHED, "fp16"), ModelSizes.of(PUBLISHED, "fp32")
    assert 5.2 < half.layers / GIB < half.weights / GIB < 5.6
    assert 1.99 < full.layers / half.layers < 2
    assert 50_000 < half.per_token < 80_000


def test_layers_are_resident_as_soon_as_a_useful_batch_fits() -> None:
    sizes = ModelSizes.of(PUBLISHED, "bf16")
    enough = next(
        free
        for free in range(sizes.weights, 8 * GIB, 1 << 20)
        if placements_to_try("auto", sizes, free)[0] == "resident"
    )
    left = enough - sizes.weights - SPARE_BYTES
    assert left >= WORTHWHILE_BATCH * sizes.per_token > 0.8 * left


def test_streamed_layers_need_main_memory() -> None:
    sizes = ModelSizes.of(PUBLISHED, "bf16")
    assert main_memory_suffices(sizes, 8 * GIB)
    assert not main_memory_suffices(sizes, sizes.layers + MAIN_MEMORY_LEFT - 1)
    assert main_memory_suffices(sizes, 0), "not known"
