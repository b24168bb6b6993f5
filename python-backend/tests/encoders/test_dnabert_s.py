from __future__ import annotations

import pytest
import torch
from agreement import TOLERANCE, WAYS, as_token_sequences, run, worst_difference
from plain_dnabert_s import PUBLISHED_SLOPES_12, plain_dnabert_s
from random_weights import dnabert_s_tensors, our_dnabert_s, random_sequences
from torch import Tensor

from virnucpro_backend.encoders.batches import equal_length_batches
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig, alibi_slopes

CONFIGS = [
    DnabertSConfig(2, 32, 2, 64, 50),
    DnabertSConfig(3, 96, 12, 160, 300),
    DnabertSConfig(2, 90, 3, 128, 120),
]
LENGTHS = [2, 9, 104, 61, 9, 106, 104, 33]


def sequences_of(config: DnabertSConfig) -> list[Tensor]:
    return random_sequences(LENGTHS, range(5, config.vocabulary), (1, 2), seed=2)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_agrees_with_the_plain_reference_however_it_is_batched(config: DnabertSConfig) -> None:
    tensors = dnabert_s_tensors(config, seed=3)
    sequences = sequences_of(config)
    expected = torch.stack(
        [plain_dnabert_s(tensors, config.layers, config.heads, s).mean(dim=0) for s in sequences]
    )
    ours = our_dnabert_s(tensors, config)
    results = [way(ours, as_token_sequences(sequences, filler=3)) for way in WAYS]
    for result in results:
        assert worst_difference(result, expected) < TOLERANCE
    for result in results[1:]:
        assert worst_difference(result, results[0]) < TOLERANCE


@pytest.mark.parametrize(
    ("dtype", "allowed"), [(torch.bfloat16, 3e-2), (torch.float16, 3e-3)], ids=["bf16", "fp16"]
)
def test_half_precision_is_close(dtype: torch.dtype, allowed: float) -> None:
    config = CONFIGS[1]
    tensors = dnabert_s_tensors(config, seed=4)
    tokens = as_token_sequences(sequences_of(config), filler=3)
    batches = equal_length_batches(tokens.lengths, 512)
    expected = run(our_dnabert_s(tensors, config), tokens, batches)
    got = run(our_dnabert_s(tensors, config, dtype), tokens, batches)
    relative = (got - expected).norm(dim=1) / expected.norm(dim=1)
    assert 0 < float(relative.max()) < allowed


def test_slopes_of_the_published_model() -> None:
    assert alibi_slopes(12) == pytest.approx(PUBLISHED_SLOPES_12, abs=5e-7)
