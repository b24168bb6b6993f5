"""Each test fails for one known mistake, and shows that the mistake would change the result."""

from __future__ import annotations

import pytest
import torch
from random_weights import dnabert_s_tensors, hugging_face_esm2, our_dnabert_s, our_esm2, random_sequences
from test_head import head_tensors
from torch import Tensor

from virnucpro_backend.encoders.attention import rotate
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.head import Head
from virnucpro_backend.encoders.layout import SequenceLayout

CONFIG = Esm2Config(3, 64, 4, 256)


@pytest.fixture
def esm2() -> Esm2:
    return our_esm2(hugging_face_esm2(CONFIG, seed=20), CONFIG)


def proteins(lengths: list[int]) -> list[Tensor]:
    return random_sequences(lengths, range(4, 24), (0, 2), seed=21)


def alone(tokens: Tensor) -> SequenceLayout:
    return SequenceLayout.from_lengths([len(tokens)], "cpu")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_rotary_angles_stay_fp32_when_the_model_is_cast(esm2: Esm2, dtype: torch.dtype) -> None:
    esm2.to(dtype)
    assert esm2.dtype == dtype
    cos, sin = esm2.rotary.tables(1025)
    assert cos.dtype == sin.dtype == torch.float32
    frequencies = 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    angles = torch.arange(1025, dtype=torch.float64)[:, None] * frequencies
    assert float((cos[:1025] - angles.cos()).abs().max()) < 1e-4
    mistake = (torch.arange(1025, dtype=dtype)[:, None] * frequencies.to(dtype)).double().cos()
    assert float((mistake - angles.cos()).abs().max()) > 1e-1
    # The rotation itself must round only once, at the end.
    x = torch.randn(1025, 16, generator=torch.Generator().manual_seed(3)).to(dtype)
    first, second = x.double().chunk(2, dim=1)
    exact = torch.cat(
        (first * cos[:1025] - second * sin[:1025], second * cos[:1025] + first * sin[:1025]), dim=1
    )
    off_by = (rotate(x, cos[:1025], sin[:1025]).double() - exact).abs() / exact.abs().clamp(min=0.1)
    assert float(off_by.max()) <= torch.finfo(dtype).eps


def test_no_forward_pass_records_gradients(esm2: Esm2) -> None:
    tokens = proteins([20])[0]
    config = DnabertSConfig(2, 32, 2, 64, 50)
    dnabert_s = our_dnabert_s(dnabert_s_tensors(config, seed=1), config)
    head = Head(head_tensors(32 + 64))
    with torch.enable_grad():
        embeddings = [m.embed(tokens, alone(tokens)) for m in (dnabert_s, esm2)]
        results = [*embeddings, *head.score(*embeddings)]
    assert not any(result.requires_grad for result in results)
    assert not any(p.requires_grad for module in (esm2, dnabert_s, head) for p in module.parameters())
