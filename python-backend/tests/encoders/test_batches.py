from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches

lengths_lists = st.lists(st.integers(1, 180), max_size=300)
budgets = st.integers(1, 4096)


def check_members(batches: list[Batch], lengths: list[int]) -> None:
    """Check that every sequence is in exactly one batch, with its own length."""
    members = np.concatenate([batch.members for batch in batches]) if batches else np.array([])
    assert sorted(members.tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch.members) > 0
        assert batch.lengths[: len(batch.members)].tolist() == [lengths[i] for i in batch.members]


@given(lengths_lists, budgets, st.integers(1, 40))
def test_equal_length_batches(lengths: list[int], budget: int, min_rows: int) -> None:
    batches = equal_length_batches(lengths, budget, min_rows)
    check_members(batches, lengths)
    for batch in batches:
        assert len(set(batch.lengths.tolist())) == 1
        real = int(batch.lengths[: len(batch.members)].sum())
        assert real <= budget or len(batch.members) == 1
        assert batch.n_tokens >= min_rows
        if real >= min_rows:
            assert len(batch.lengths) == len(batch.members)
    longest = [int(batch.lengths[0]) for batch in batches]
    assert longest == sorted(longest, reverse=True)


@given(lengths_lists, budgets)
def test_packed_batches(lengths: list[int], budget: int) -> None:
    batches = packed_batches(lengths, budget)
    check_members(batches, lengths)
    real = [int(batch.lengths[: len(batch.members)].sum()) for batch in batches]
    for batch, tokens in zip(batches, real, strict=True):
        assert tokens <= budget or len(batch.members) == 1
        assert batch.n_tokens % 16 == 0
        assert batch.n_tokens - tokens < 16
        assert int(batch.lengths.max()) == int(batch.lengths[0])
        assert int(batch.lengths.min()) >= 1
    if batches and budget > 4 * max(lengths):
        assert max(real) - min(real) <= 2 * max(lengths)


def test_refuses_an_empty_sequence() -> None:
    with pytest.raises(ValueError, match="positive"):
        packed_batches([3, 0], 100)
