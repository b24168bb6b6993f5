"""Tests the code paths that only a GPU takes; skipped without one."""

from __future__ import annotations

import copy

import pytest
import torch
from random_weights import random_sequences, randomize

from virnucpro_backend.encoders.attention import EqualLengthAttention, VarlenAttention
from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops
from virnucpro_backend.encoders.pooling import segment_mean
from virnucpro_backend.encoders.precision import forbid_hidden_rounding

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")

ESM2 = Esm2Config(layers=4, width=256, heads=4, feed_forward=1024)
DNABERT_S = DnabertSConfig(layers=3, width=192, heads=3, feed_forward=256, vocabulary=500)
LENGTHS = [172, 170, 99, 64, 33, 3, 2, 172, 1000, 41]


@pytest.mark.parametrize(
    ("dtype", "allowed"), [(torch.bfloat16, 2e-2), (torch.float16, 2e-3)], ids=["bf16", "fp16"]
)
def test_packed_esm2_in_half_precision(dtype: torch.dtype, allowed: float) -> None:
    reference = Esm2(ESM2)
    randomize(reference, seed=1)
    tokens = torch.cat(random_sequences(LENGTHS, range(4, 24), (0, 2), seed=2))
    expected = torch.cat(
        [reference.embed(t, SequenceLayout.from_lengths([len(t)], "cpu")) for t in tokens.split(LENGTHS)]
    )
    model = copy.deepcopy(reference).to(dtype).cuda()
    model.ops, model.attention = Ops(), VarlenAttention()
    layout = SequenceLayout.from_lengths(LENGTHS, "cuda")
    got = model.embed(tokens.cuda(), layout)
    pooled = torch.tensor(LENGTHS) > 2
    relative = (got.cpu() - expected).norm(dim=1)[pooled] / expected.norm(dim=1)[pooled]
    assert float(relative.max()) < allowed
    assert torch.equal(model.embed(tokens.cuda(), layout), got), "the same batch gives the same bits"


def test_fp32_agrees_with_the_cpu() -> None:
    forbid_hidden_rounding()
    lengths = [106] * 20
    layout, on_gpu = (SequenceLayout.from_lengths(lengths, device) for device in ("cpu", "cuda"))
    tokens = torch.cat(random_sequences(lengths, range(5, 24), (1, 2), seed=3))
    for model in (Esm2(ESM2), DnabertS(DNABERT_S)):
        randomize(model, seed=4)
        expected = model.embed(tokens, layout)
        model = model.cuda()
        model.ops, model.attention = Ops(), EqualLengthAttention()
        got = model.embed(tokens.cuda(), on_gpu).cpu()
        assert float(((got - expected).abs() / expected.norm(dim=1, keepdim=True)).max()) < 1e-5


def test_segment_mean_is_the_same_every_time() -> None:
    x = torch.randn(sum(LENGTHS), 2560, device="cuda")
    layout = SequenceLayout.from_lengths(LENGTHS, "cuda")
    first = segment_mean(x, layout, skip_first=1, skip_last=1, at_most=500)
    assert all(
        torch.equal(segment_mean(x, layout, skip_first=1, skip_last=1, at_most=500), first) for _ in range(5)
    )
    expected = segment_mean(
        x.cpu().double(), SequenceLayout.from_lengths(LENGTHS, "cpu"), skip_first=1, skip_last=1, at_most=500
    )
    torch.testing.assert_close(first.cpu().double(), expected, rtol=1e-4, atol=1e-6)
