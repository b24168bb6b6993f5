from __future__ import annotations

import pytest
import torch

from virnucpro_backend.check import device
from virnucpro_backend.check.device import ALLOWED, check_device


def test_the_processor_agrees_with_itself_and_rounding_stays_within_the_limits() -> None:
    """The processor computes the same numbers as a GPU, but slowly."""
    same, *rounded = check_device("cpu", ["fp32", "bf16", "fp16"], seconds=0)
    assert same.verdict == "works"
    assert same.figures is not None
    assert same.figures["difference"] <= 1e-6
    for result in rounded:
        assert result.figures is not None
        assert 0 < result.figures["difference"] < ALLOWED[result.precision] / 2


@pytest.mark.parametrize("wrong", ["nan", "sign", "order"])
def test_a_faulty_device_is_detected(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    right = device._embed
    passes = 0

    def sometimes_wrong(*arguments: object) -> torch.Tensor:
        nonlocal passes
        passes += 1
        result = right(*arguments)  # type: ignore[arg-type]
        if passes == 1:  # the expected result
            return result
        return {"nan": result * float("nan"), "sign": -result, "order": result.roll(1, 0)}[wrong]

    monkeypatch.setattr(device, "_embed", sometimes_wrong)
    [result] = check_device("cpu", ["fp32"], seconds=0)
    assert result.verdict == "differs"


def test_a_missing_precision_is_reported() -> None:
    [fp8] = check_device("cpu", ["fp8"], seconds=0)
    assert (fp8.verdict, fp8.figures) == ("no_answer", None)
    assert "FP8" in str(fp8.problem)


@pytest.mark.skipif(torch.cuda.is_available(), reason="for computers without a GPU")
def test_a_missing_gpu_is_reported() -> None:
    [result] = check_device("cuda", ["bf16"], seconds=0)
    assert result.problem
