from __future__ import annotations

import pytest
import torch
from random_weights import random_head

from virnucpro_backend.encoders.head import ROWS, Head


def test_scores_follow_the_published_formula() -> None:
    published = random_head(12)
    dnabert_s, esm2 = torch.randn(40, 5), torch.randn(40, 7)
    scores = torch.stack(Head(published.state_dict()).score(dnabert_s, esm2), dim=1)
    expected = published.double()(torch.cat((dnabert_s, esm2), dim=1).double()).softmax(dim=1)
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores.double(), expected, rtol=1e-5, atol=1e-6)


DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.mark.parametrize("device", DEVICES)
def test_a_frames_score_does_not_depend_on_its_neighbours(device: str) -> None:
    """Scores are compared alone, in a part cut anywhere, and in another order, at the published size."""
    generator = torch.Generator().manual_seed(1)
    dnabert_s = torch.randn(2 * ROWS + 88, 768, generator=generator).to(device)
    esm2 = torch.randn(2 * ROWS + 88, 2560, generator=generator).to(device)
    head = Head(random_head(3328, hidden=512).state_dict()).to(device)
    whole = torch.stack(head.score(dnabert_s, esm2))
    assert len(whole[0].unique()) > 500  # so that mixed-up frames would be noticed
    for cut in (0, 1, 15, ROWS - 1, ROWS, ROWS + 1, 391, len(esm2)):
        parts = [head.score(dnabert_s[:cut], esm2[:cut]), head.score(dnabert_s[cut:], esm2[cut:])]
        assert torch.equal(torch.cat([torch.stack(part) for part in parts], dim=1), whole)
    order = torch.randperm(len(esm2), generator=generator).to(device)
    assert torch.equal(torch.stack(head.score(dnabert_s[order], esm2[order])), whole[:, order])


def test_refuses_a_state_that_is_not_a_classifier() -> None:
    tensors = random_head(12).state_dict()
    with pytest.raises(ValueError, match="two outputs"):
        Head({**tensors, "output_layer.weight": torch.zeros(3, 16)})
    del tensors["bn1.running_mean"]
    with pytest.raises(ValueError, match=r"bn1\.running_mean"):
        Head(tensors)
