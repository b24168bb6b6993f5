from __future__ import annotations

import pytest
import torch
from test_numeric_traps import head_tensors

from virnucpro_backend.encoders.head import Head


def test_scores_are_those_of_the_published_formula() -> None:
    w = {name: tensor.double() for name, tensor in head_tensors(12).items()}
    dnabert_s, esm2 = torch.randn(40, 5), torch.randn(40, 7)
    score1, score2 = Head(head_tensors(12)).score(dnabert_s, esm2)
    x = torch.cat((dnabert_s, esm2), dim=1).double() @ w["hidden_layer.weight"].T + w["hidden_layer.bias"]
    x = (x - w["bn1.running_mean"]) / torch.sqrt(w["bn1.running_var"] + 1e-5) * w["bn1.weight"] + w[
        "bn1.bias"
    ]
    expected = (x.clamp(min=0) @ w["output_layer.weight"].T + w["output_layer.bias"]).softmax(dim=1)
    assert score1.dtype == score2.dtype == torch.float32
    torch.testing.assert_close(torch.stack((score1, score2), dim=1).double(), expected, rtol=1e-5, atol=1e-6)


def test_a_single_row_scores_as_it_does_among_sixteen() -> None:
    head = Head(head_tensors(12))
    dnabert_s, esm2 = torch.randn(16, 5), torch.randn(16, 7)
    together = head.score(dnabert_s, esm2)
    single = head.score(dnabert_s[:1], esm2[:1])
    assert torch.equal(single[0], together[0][:1])
    assert torch.equal(single[1], together[1][:1])


def test_refuses_a_state_that_is_no_such_head() -> None:
    tensors = head_tensors(12)
    with pytest.raises(ValueError, match="two outputs"):
        Head({**tensors, "output_layer.weight": torch.zeros(3, 8)})
    del tensors["bn1.running_mean"]
    with pytest.raises(ValueError, match=r"bn1\.running_mean"):
        Head(tensors)
