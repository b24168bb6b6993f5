from __future__ import annotations

import sys
from functools import cache

import pytest
import torch

from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.attention import choose_attention
from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.fp8 import FP8_LARGEST, quantized
from virnucpro_backend.encoders.ops import choose_ops

ESM2 = Esm2Config(2, 128, 2, 256)
GPU = torch.device("cuda", 0)
DNABERT_S = DnabertSConfig(2, 128, 2, 256, 100)


@pytest.fixture(autouse=True)
def _untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the GPU that a test simulates, nothing has been tried out."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(kernels, "_fallbacks", [])
    for name in ("_try_out", "_try_out_hopper"):
        monkeypatch.setattr(kernels, name, cache(getattr(kernels, name).__wrapped__))


def test_cpus_and_fp32_use_the_eager_code() -> None:
    assert not kernels.usable(torch.device("cpu"), torch.bfloat16)
    assert not kernels.usable(GPU, torch.float32)
    model = Esm2(ESM2, torch.bfloat16)
    assert (model.ops.name, model.attention.name) == ("eager", "stretches")


@pytest.mark.parametrize(
    ("capability", "dtype", "expected"),
    [
        ((9, 0), torch.bfloat16, "varlen"),
        ((8, 0), torch.float16, "varlen"),
        ((7, 5), torch.float16, "equal_length"),
        ((7, 0), torch.float16, "equal_length"),
        ((6, 1), torch.float32, "equal_length"),
        ((9, 0), torch.float32, "equal_length"),
    ],
)
def test_attention_without_triton_by_capability(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], dtype: torch.dtype, expected: str
) -> None:
    """GPUs before Ampere, and FP32 on any GPU, use batches of equal length."""
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)
    attention = choose_attention(GPU, dtype, head_dim=64, alibi=False)
    assert (attention.name, attention.packs) == (expected, expected == "varlen")
    assert choose_ops(GPU, dtype).name == "eager"
    # The only packed attention with ALiBi is the fused one.
    assert not choose_attention(GPU, dtype, head_dim=64, alibi=True).packs
    # The user is informed once, and only about a GPU that could have used the kernels.
    assert len(kernels.fallbacks()) == (1 if capability >= (8, 0) and dtype != torch.float32 else 0)


def test_hopper_kernels_that_fail_are_reported_and_the_general_ones_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This happens with another version of Triton, whose dialect differs."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (9, 0))
    monkeypatch.setattr(kernels, "_try_out", lambda device: True)
    monkeypatch.setitem(sys.modules, "virnucpro_backend.encoders.kernels.hopper", None)
    assert kernels.usable(GPU, torch.bfloat16)
    assert not kernels.hopper_usable(GPU, torch.bfloat16)
    assert not kernels.hopper_usable(GPU, torch.bfloat16)
    assert len(kernels.fallbacks()) == 1


def test_an_old_gpu_has_no_fused_kernels_even_with_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (7, 5))
    assert not kernels.usable(GPU, torch.float16)


def test_fp8_rows_use_the_whole_range_and_survive_zeros() -> None:
    x = torch.randn(4, 256, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [[1e-4], [1], [300], [0]]
    )
    rows = quantized(x)
    assert torch.equal(rows.values.float().abs().amax(dim=1), torch.tensor([1.0, 1, 1, 0]) * FP8_LARGEST)
    assert ((rows.values.float() * rows.scale - x).abs() <= x.abs() / 16 + rows.scale / 512).all()


def test_fp8_only_replaces_the_linear_layers_of_esm2() -> None:
    model = Esm2(ESM2, torch.bfloat16)
    model.to_fp8()
    assert model.dtype == torch.float8_e4m3fn
    kept = {name: p.dtype for name, p in model.named_parameters()}
    assert set(kept.values()) == {torch.float32}
    assert DnabertS(DNABERT_S, torch.bfloat16).dtype == torch.bfloat16
