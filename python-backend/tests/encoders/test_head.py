from __future__ import annotations

import pytest
import torch
from torch import Tensor

from virnucpro_backend.encoders.head import HEAD_TENSORS, ROWS, Head


def head_tensors(inputs: int, hidden: int = 8) -> dict[str, Tensor]:
    """Make the tensors of a classifier whose logits vary by about one, whatever its size."""
    generator = torch.Generator().manual_seed(5)
    shapes = [(hidden, inputs), *[(hidden,)] * 5, (2, hidden), (2,)]
    tensors = {
        name: torch.randn(shape, generator=generator) * (shape[1] ** -0.5 if len(shape) == 2 else 1)
        for name, shape in zip(HEAD_TENSORS, shapes, strict=True)
    }
    tensors["bn1.running_var"] = tensors["bn1.running_var"].abs() + 0.5
    return tensors


def test_scores_follow_the_published_formula() -> None:
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
    head = Head(head_tensors(3328, hidden=512)).to(device)
    whole = torch.stack(head.score(dnabert_s, esm2))
    assert len(whole[0].unique()) > 500  # so that mixed-up frames would be noticed
    for cut in (0, 1, 15, ROWS - 1, ROWS, ROWS + 1, 391, len(esm2)):
        parts = [head.score(dnabert_s[:cut], esm2[:cut]), head.score(dnabert_s[cut:], esm2[cut:])]
        assert torch.equal(torch.cat([torch.stack(part) for part in parts], dim=1), whole)
    order = torch.randperm(len(esm2), generator=generator).to(device)
    assert torch.equal(torch.stack(head.score(dnabert_s[order], esm2[order])), whole[:, order])


def test_refuses_a_state_that_is_not_a_classifier() -> None:
    tensors = head_tensors(12)
    with pytest.raises(ValueError, match="two outputs"):
        Head({**tensors, "output_layer.weight": torch.zeros(3, 8)})
    del tensors["bn1.running_mean"]
    with pytest.raises(ValueError, match=r"bn1\.running_mean"):
        Head(tensors)
