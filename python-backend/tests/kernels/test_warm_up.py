"""Tests how kernels are compiled ahead and tried out; the kernels themselves need a GPU."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.inference import warm_up
from virnucpro_backend.inference.warm_up import compiling_kernels
from virnucpro_backend.weights.model_json import read_model_json

DEMO_MODEL = read_model_json(Path(__file__).parents[1] / "data" / "demo-model")
CPU = torch.device("cpu")
PATIENCE = 10.0


class Compilers:
    """Fakes the compilation of kernels, which waits for the weights, then raises any `error`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: Exception | None = None
        self.done: list[Esm2 | DnabertS] = []
        self.threads: set[int] = set()
        self.weights_are_read = threading.Event()
        monkeypatch.setattr(warm_up, "kernels", SimpleNamespace(usable=self.usable))
        monkeypatch.setattr(warm_up, "run_every_kernel", self.run)

    def usable(self, _: torch.device, dtype: torch.dtype) -> bool:
        return dtype != torch.float32

    def run(self, encoder: Esm2 | DnabertS, _: torch.device) -> None:
        self.threads.add(threading.get_ident())
        assert self.weights_are_read.wait(PATIENCE)
        if self.error:
            raise self.error
        self.done.append(encoder)


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> Compilers:
    return Compilers(monkeypatch)


def test_both_encoders_are_compiled_while_the_block_runs(compilers: Compilers) -> None:
    with compiling_kernels(DEMO_MODEL, "bf16", CPU):
        assert compilers.done == []
        compilers.weights_are_read.set()
    esm2, dnabert_s = sorted(compilers.done, key=lambda encoder: isinstance(encoder, DnabertS))
    assert isinstance(esm2, Esm2)
    assert (len(esm2.layers), esm2.dtype, esm2.config.width) == (1, torch.bfloat16, DEMO_MODEL.esm2.width)
    assert len(compilers.threads) == 1, "Triton is not made for several"
    assert isinstance(dnabert_s, DnabertS)
    assert (len(dnabert_s.layers), dnabert_s.config.width) == (1, DEMO_MODEL.dnabert_s.width)


def test_failed_compilation_is_left_to_the_warm_up(compilers: Compilers) -> None:
    compilers.error = torch.OutOfMemoryError("CUDA out of memory")
    with compiling_kernels(DEMO_MODEL, "fp16", CPU):
        compilers.weights_are_read.set()
    assert compilers.done == []


def test_damaged_weights_are_reported_after_the_compilation_ends(compilers: Compilers) -> None:
    compilers.weights_are_read.set()
    with pytest.raises(ValueError, match="damaged"), compiling_kernels(DEMO_MODEL, "bf16", CPU):
        raise ValueError("damaged")
    assert len(compilers.done) == 2


def test_nothing_is_compiled_if_no_kernel_is_used(compilers: Compilers) -> None:
    with compiling_kernels(DEMO_MODEL, "fp32", CPU):
        pass
    assert compilers.done == []


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """An encoder on a GPU on which fused kernels raise its `error`."""

    def use_kernels_for(device: torch.device, *, fused: bool) -> None:
        encoder.ops.name = "fused" if fused else "eager"

    def run(encoder: SimpleNamespace, device: torch.device) -> None:
        if encoder.ops.name == "fused":
            raise encoder.error

    monkeypatch.setattr(warm_up, "run_every_kernel", run)
    monkeypatch.setattr(kernels, "_fallbacks", [])
    error, ops = RuntimeError("PTX was compiled for a newer driver"), SimpleNamespace(name="fused")
    encoder = SimpleNamespace(ops=ops, use_kernels_for=use_kernels_for, error=error)
    return encoder


def model(precision: str, encoder: SimpleNamespace) -> Any:
    works = SimpleNamespace(ops=SimpleNamespace(name="eager"))
    return SimpleNamespace(device=torch.device("cuda", 0), precision=precision, esm2=encoder, dnabert_s=works)


def test_an_encoder_whose_fused_kernels_fail_uses_the_plain_ones(encoder: SimpleNamespace) -> None:
    warm_up.warm_up(model("bf16", encoder))
    assert encoder.ops.name == "eager"
    (fallback,) = kernels.fallbacks()
    assert "PTX was compiled for a newer driver" in fallback


def test_fp8_that_does_not_work_is_refused_with_an_explanation(encoder: SimpleNamespace) -> None:
    with pytest.raises(LoadFailedError) as failure:
        warm_up.warm_up(model("fp8", encoder))
    assert failure.value.code == "precision_unsupported"
    assert "PTX was compiled for a newer driver" in failure.value.detail


def test_running_out_of_memory_does_not_disable_fused_kernels(encoder: SimpleNamespace) -> None:
    encoder.error = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(torch.OutOfMemoryError):
        warm_up.warm_up(model("bf16", encoder))
    assert encoder.ops.name == "fused"
