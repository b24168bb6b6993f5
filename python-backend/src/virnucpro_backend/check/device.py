"""Checks whether a device computes, and whether its results are right.

A small encoder built like ESM-2, with random weights, runs with the kernels of a run for about a second in
each precision. Its output is compared with the processor's in FP32.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from virnucpro_backend.check.result import CheckResult
from virnucpro_backend.devices.opening import LoadFailedError, open_device
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.precision import DTYPES, forbid_hidden_rounding

SECONDS = 1.0
"""How long each precision computes, after a first pass that may compile its kernels."""

ALLOWED: dict[Precision, float] = {"fp32": 1e-4, "fp16": 3e-3, "bf16": 2e-2, "fp8": 0.1}
"""The largest relative difference from the processor's FP32 embeddings that rounding can explain. A faulty
device is off by about 1.
"""

_CONFIG = Esm2Config(layers=4, width=640, heads=10, feed_forward=2560)
_LENGTHS = (160,) * 4
"""Tokens per sequence. Attention on some devices needs equal lengths, FP8 a total that 16 divides."""


def check_device(
    kind: DeviceKind, precisions: Sequence[Precision], seconds: float = SECONDS
) -> list[CheckResult]:
    """Return for each precision the relative `difference`, what is `allowed`, and `passes_per_second`.

    Any fault of a device is reported as a result, never as an exception.
    """
    forbid_hidden_rounding()
    weights, tokens = Esm2(_CONFIG), _random_tokens()
    randomise(weights, torch.Generator().manual_seed(11))
    with torch.inference_mode():
        expected = _embed(weights, tokens)
    return [_checked(kind, each, weights, tokens, expected, seconds) for each in precisions]


def _checked(
    kind: DeviceKind, precision: Precision, weights: Esm2, tokens: Tensor, expected: Tensor, seconds: float
) -> CheckResult:
    try:
        device = open_device(kind, precision, None).device
        with torch.inference_mode():
            difference, rate = _worst_difference(weights, tokens, expected, device, precision, seconds)
    except LoadFailedError as error:
        return CheckResult(precision, "no_answer", None, str(error))
    except Exception as error:  # a driver can fail in any way
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        return CheckResult(precision, "no_answer", None, problem)
    allowed = ALLOWED[precision]
    figures = {"difference": difference, "allowed": allowed, "passes_per_second": rate}
    return CheckResult(precision, "works" if difference <= allowed else "differs", figures)


def randomise(model: nn.Module, generator: torch.Generator) -> None:
    """Give matrices unit gain, which keeps activations in a realistic range, and embeddings unit variance."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            scale = 1.0 if name.startswith("embedding") else parameter.shape[1] ** -0.5
            parameter.normal_(0, scale, generator=generator)


def _random_tokens() -> Tensor:
    """Make tokens int64 [T]: amino acids, with `<cls>` 0 and `<eos>` 2 around each sequence."""
    tokens = torch.randint(4, 24, (len(_LENGTHS), _LENGTHS[0]), generator=torch.Generator().manual_seed(12))
    tokens[:, 0], tokens[:, -1] = 0, 2
    return tokens.flatten()


def _worst_difference(
    weights: Esm2,
    tokens: Tensor,
    expected: Tensor,
    device: torch.device,
    precision: Precision,
    seconds: float,
) -> tuple[float, float]:
    """Return the largest relative difference of an embedding in any pass, 1 if one is NaN, and the passes per
    second without the first."""
    with torch.inference_mode(False):
        model = Esm2(_CONFIG, DTYPES[precision])
        model.load_state_dict(weights.state_dict())
        model.to(device)
        model.use_kernels_for(device)
        if precision == "fp8":
            model.to_fp8()
    worst = _difference(_embed(model, tokens.to(device)), expected)
    begun, passes = time.perf_counter(), 0
    while passes == 0 or time.perf_counter() - begun < seconds:
        worst = max(worst, _difference(_embed(model, tokens.to(device)), expected))
        passes += 1
    return worst, round(passes / (time.perf_counter() - begun), 3)


def _embed(model: Esm2, tokens: Tensor) -> Tensor:
    """Return embeddings FP32 [sequences, width] in main memory."""
    return model.embed(tokens, SequenceLayout.from_lengths(_LENGTHS, tokens.device)).cpu()


def _difference(got: Tensor, expected: Tensor) -> float:
    relative = (got - expected).norm(dim=1) / expected.norm(dim=1)
    worst = float(relative.max())
    return worst if worst == worst else 1.0
