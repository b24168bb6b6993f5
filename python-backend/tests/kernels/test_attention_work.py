from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from virnucpro_backend.encoders.kernels.attention_work import BLOCK, MOST_BLOCKS, AttentionWork


@given(st.lists(st.integers(1, 5 * BLOCK), min_size=1, max_size=40))
def test_every_row_of_a_batch_is_queried_once_within_its_sequence(lengths: list[int]) -> None:
    work = AttentionWork.on_device(tuple(lengths), torch.device("cpu"))
    owner = torch.full((sum(lengths),), -1)
    for blocks, ranges in work.short.items():
        assert 1 <= blocks <= MOST_BLOCKS
        for begin, end in ranges.tolist():
            assert (blocks - 1) * BLOCK < end - begin <= blocks * BLOCK
            assert (owner[begin:end] == -1).all()
            owner[begin:end] = begin
    for nth, begin, end in [] if work.long is None else work.long.tolist():
        assert end - begin > MOST_BLOCKS * BLOCK
        first = begin + nth * BLOCK
        assert first < end
        assert (owner[first : min(first + BLOCK, end)] == -1).all()
        owner[first : min(first + BLOCK, end)] = begin
    expected = torch.repeat_interleave(
        torch.tensor(lengths).cumsum(0) - torch.tensor(lengths), torch.tensor(lengths)
    )
    assert torch.equal(owner, expected)
