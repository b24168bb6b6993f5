from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.encoders import kernels
from virnucpro_backend.inference import warm_up as module


class EncoderWhoseFusedKernelsFail:
    """Fakes an encoder on a GPU on which Triton's kernels do not compile."""

    def __init__(self, error: Exception, ops: str = "fused") -> None:
        self.ops = SimpleNamespace(name=ops)
        self._error = error

    def use_kernels_for(self, device: torch.device, *, fused: bool) -> None:
        assert device.type == "cuda"
        self.ops.name = "fused" if fused else "eager"

    def run(self) -> None:
        if self.ops.name == "fused":
            raise self._error


@pytest.fixture(autouse=True)
def _no_gpu_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_every_kernel", lambda encoder, device: encoder.run())
    monkeypatch.setattr(kernels, "_fallbacks", [])


def model(precision: str, encoder: EncoderWhoseFusedKernelsFail) -> Any:
    works = EncoderWhoseFusedKernelsFail(RuntimeError(), ops="eager")
    return SimpleNamespace(device=torch.device("cuda", 0), precision=precision, esm2=encoder, dnabert_s=works)


def test_an_encoder_whose_fused_kernels_fail_uses_the_plain_ones() -> None:
    encoder = EncoderWhoseFusedKernelsFail(RuntimeError("PTX was compiled for a newer driver"))
    module.warm_up(model("bf16", encoder))
    assert encoder.ops.name == "eager"
    (fallback,) = kernels.fallbacks()
    assert "PTX was compiled for a newer driver" in fallback


def test_fp8_that_does_not_work_is_refused_with_an_explanation() -> None:
    encoder = EncoderWhoseFusedKernelsFail(RuntimeError("no kernel image"))
    with pytest.raises(LoadFailedError) as failure:
        module.warm_up(model("fp8", encoder))
    assert failure.value.code == "precision_unsupported"
    assert "no kernel image" in failure.value.detail


def test_running_out_of_memory_does_not_disable_fused_kernels() -> None:
    encoder = EncoderWhoseFusedKernelsFail(torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(torch.OutOfMemoryError):
        module.warm_up(model("bf16", encoder))
    assert encoder.ops.name == "fused"
