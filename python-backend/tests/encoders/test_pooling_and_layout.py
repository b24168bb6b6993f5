from __future__ import annotations

import pytest
import torch

from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.pooling import segment_mean, segment_reduced_mean


@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 170, 2, 1, 33], [1], [2, 3]], ids=str)
def test_segment_mean_is_the_mean_of_the_tokens_kept(lengths: list[int]) -> None:
    x = 100 + torch.randn(sum(lengths), 24, generator=torch.Generator().manual_seed(1))
    layout = SequenceLayout.from_lengths(lengths, "cpu")
    kept_means = segment_mean(x, layout, skip_first=1, skip_last=1, at_most=100)
    on_a_gpu = segment_reduced_mean(x, layout, skip_first=1, skip_last=1, at_most=100)
    torch.testing.assert_close(on_a_gpu, kept_means, rtol=2e-6, atol=0)
    for row, tokens in zip(kept_means, x.split(lengths), strict=True):
        kept = tokens[1:-1][:100].double()
        expected = kept.mean(dim=0) if len(kept) else torch.zeros(24).double()
        torch.testing.assert_close(row.double(), expected, rtol=2e-6, atol=0)
    whole = torch.stack([tokens.double().mean(dim=0) for tokens in x.split(lengths)])
    torch.testing.assert_close(segment_mean(x, layout).double(), whole, rtol=2e-6, atol=0)


def test_a_processor_pools_a_sequence_to_the_same_bits_whatever_is_beside_it() -> None:
    x = torch.randn(4 * 57 + 33, 24, generator=torch.Generator().manual_seed(2))
    packed = segment_mean(x, SequenceLayout.from_lengths([57] * 4 + [33], "cpu"))
    assert torch.equal(packed[:4], segment_mean(x[: 4 * 57], SequenceLayout.from_lengths([57] * 4, "cpu")))
    assert torch.equal(packed[4:], segment_mean(x[4 * 57 :], SequenceLayout.from_lengths([33], "cpu")))


def test_layout_says_where_every_token_belongs() -> None:
    layout = SequenceLayout.from_lengths([3, 1, 4], "cpu")
    assert layout.cu_seqlens.tolist() == [0, 3, 4, 8]
    assert layout.positions.tolist() == [0, 1, 2, 0, 0, 1, 2, 3]
    assert (layout.max_length, layout.n_tokens, layout.n_sequences, layout.equal_length) == (4, 8, 3, None)
    assert SequenceLayout.from_lengths([4, 4], "cpu").equal_length == 4
    with pytest.raises(ValueError, match="at least one"):
        SequenceLayout.from_lengths([3, 0], "cpu")
