"""The merged embeddings of a run of the original tool fit a head of the published shape."""

from __future__ import annotations

from pathlib import Path

import torch

from virnucpro_backend.encoders.head import Head

MERGED = Path(__file__).parents[1] / "data" / "original_run" / "output_1_merged.pt"


def test_reference_embeddings_fit_the_head() -> None:
    """Checks only shapes and norms, as the published head's weights are not available."""
    merged = torch.load(MERGED, weights_only=True)["data"]
    dnabert_s, esm2 = merged[:, :768], merged[:, 768:]
    assert esm2.shape == (4, 2560)
    assert ((dnabert_s.norm(dim=1) > 2.5) & (dnabert_s.norm(dim=1) < 4.2)).all()
    assert ((esm2.norm(dim=1) > 13.5) & (esm2.norm(dim=1) < 14.4)).all()
    torch.manual_seed(0)
    head = Head(
        {
            "hidden_layer.weight": torch.randn(512, 3328) / 58,
            "hidden_layer.bias": torch.randn(512),
            "bn1.weight": torch.ones(512),
            "bn1.bias": torch.zeros(512),
            "bn1.running_mean": torch.randn(512),
            "bn1.running_var": torch.rand(512) + 0.5,
            "output_layer.weight": torch.randn(2, 512) / 22,
            "output_layer.bias": torch.randn(2),
        }
    )
    score1, score2 = head.score(dnabert_s, esm2)
    assert score1.shape == score2.shape == (4,)
    torch.testing.assert_close(score1 + score2, torch.ones(4))
    alone = torch.stack([head.score(dnabert_s[i : i + 1], esm2[i : i + 1])[1][0] for i in range(4)])
    torch.testing.assert_close(score2, alone)
