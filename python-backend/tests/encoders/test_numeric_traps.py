"""Each test fails for one known mistake, and shows that the mistake would change the result."""

from __future__ import annotations

import math

import pytest
import torch
from agreement import TOLERANCE, worst_difference
from random_weights import dnabert_s_tensors, hugging_face_esm2, our_dnabert_s, our_esm2, random_sequences
from torch import Tensor, nn

from virnucpro_backend.encoders.batches import equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.head import HEAD_TENSORS, Head
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import EagerOps
from virnucpro_backend.encoders.reference_attention import PackedReferenceAttention, rotate

CONFIG = Esm2Config(3, 64, 4, 256)


@pytest.fixture
def esm2() -> Esm2:
    return our_esm2(hugging_face_esm2(CONFIG, seed=20), CONFIG)


def proteins(lengths: list[int]) -> list[Tensor]:
    return random_sequences(lengths, range(4, 24), (0, 2), seed=21)


def alone(tokens: Tensor) -> SequenceLayout:
    return SequenceLayout.from_lengths([len(tokens)], "cpu")


def test_neither_cls_nor_eos_is_in_the_mean(esm2: Esm2) -> None:
    tokens = proteins([30])[0]
    hidden, embedding = esm2(tokens, alone(tokens)), esm2.embed(tokens, alone(tokens))
    assert worst_difference(embedding, hidden[1:-1].mean(dim=0, keepdim=True)) < TOLERANCE
    for mistake in (hidden[1:], hidden[:-1], hidden):
        assert worst_difference(embedding, mistake.mean(dim=0, keepdim=True)) > 100 * TOLERANCE


def test_embeddings_are_scaled_by_0_88() -> None:
    theirs = hugging_face_esm2(CONFIG, seed=22)
    ours = our_esm2(theirs, CONFIG)
    published = theirs.esm.embeddings.word_embeddings.weight.detach()
    assert torch.equal(ours.embedding.weight, published * 0.88)
    tokens = proteins([50])[0]
    right = ours.embed(tokens, alone(tokens))
    ours.embedding.weight.copy_(published)
    assert worst_difference(ours.embed(tokens, alone(tokens)), right) > 100 * TOLERANCE


def test_gelu_is_the_erf_form() -> None:
    x = torch.linspace(-6, 6, 2001)[:, None]
    identity = nn.Linear(1, 1, bias=False)
    doubled = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        identity.weight.fill_(1.0)
        doubled.weight.fill_(1.0)
        exact = x.double() * 0.5 * (1 + torch.erf(x.double() / math.sqrt(2)))
        gelu, geglu = EagerOps().linear_gelu(identity, x), EagerOps().linear_geglu(doubled, x)
    assert float((gelu - exact).abs().max()) < 1e-6
    assert float((geglu - exact * x).abs().max()) < 1e-5
    tanh = nn.functional.gelu(x, approximate="tanh")
    assert float((tanh - exact).abs().max()) > 4e-4


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


def test_dummies_change_nothing_although_padding_with_cls_would(esm2: Esm2) -> None:
    tokens = proteins([7])[0]
    expected = esm2.embed(tokens, alone(tokens))
    for batch, attention in (
        (equal_length_batches([7], 64)[0], esm2.attention),
        (packed_batches([7], 256)[0], PackedReferenceAttention()),
    ):
        esm2.attention = attention
        assert len(batch.lengths) > 1
        filled = torch.cat((tokens, torch.zeros(batch.n_tokens - 7, dtype=torch.int32)))
        got = esm2.embed(filled, SequenceLayout.from_lengths(batch.lengths, "cpu"))[:1]
        assert worst_difference(got, expected) < TOLERANCE
    padded = torch.cat((tokens, torch.zeros(9, dtype=torch.int32)))
    mistake = esm2(padded, alone(padded))[1:6].mean(dim=0, keepdim=True)
    assert worst_difference(mistake, expected) > 100 * TOLERANCE


def test_no_forward_pass_records_gradients(esm2: Esm2) -> None:
    tokens = proteins([20])[0]
    config = DnabertSConfig(2, 32, 2, 64, 50)
    dnabert_s = our_dnabert_s(dnabert_s_tensors(config, seed=1), config)
    head = Head(head_tensors(32 + 64))
    with torch.enable_grad():
        embeddings = [m.embed(tokens, alone(tokens)) for m in (dnabert_s, esm2)]
        results = [*embeddings, esm2(tokens, alone(tokens)), *head.score(*embeddings)]
    assert not any(result.requires_grad for result in results)
    assert not any(p.requires_grad for module in (esm2, dnabert_s, head) for p in module.parameters())


def test_the_same_batch_gives_the_same_bits(esm2: Esm2) -> None:
    lengths = [33] * 9
    tokens, layout = torch.cat(proteins(lengths)), SequenceLayout.from_lengths(lengths, "cpu")
    assert torch.equal(esm2.embed(tokens, layout), esm2.embed(tokens, layout))


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
