"""`python -m virnucpro_backend.device_check KIND PRECISIONS`: whether a device computes, and rightly.

KIND is cuda, rocm, mps or cpu; PRECISIONS are parted by commas. A small encoder of ESM-2's build with random
weights goes through the kernels that a run uses, for about a second in each precision; what it puts out is
compared with the processor's FP32. One JSON object on standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any, get_args

import torch
from torch import Tensor

from virnucpro_backend.devices.kinds import DeviceKind, Precision
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.devices.opening.open import open_device
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.precision import DTYPES, forbid_hidden_rounding

SECONDS = 1.0
"""How long each precision computes, after a first pass that may have to build its kernels."""

ALLOWED: dict[Precision, float] = {"fp32": 1e-4, "fp16": 3e-3, "bf16": 2e-2, "fp8": 0.1}
"""The largest relative difference of an embedding from the processor's FP32 that rounding explains. A device
that computes wrongly is off by about 1.
"""

_CONFIG = Esm2Config(layers=4, width=640, heads=10, feed_forward=2560)
_LENGTHS = (160,) * 4
"""Tokens per sequence, together a multiple of 16. Attention on the processor wants them equal."""


def check_device(kind: DeviceKind, precisions: list[Precision], seconds: float = SECONDS) -> dict[str, Any]:
    """`name` of the device (None if it can't be opened at all) and, for each precision, `precision`,
    `difference` (relative) and `passes_per_second` (both None where nothing was computed), `allowed` and
    `problem` (a sentence, or None where all is well). Never raises for what a device does.
    """
    forbid_hidden_rounding()
    weights, tokens = _random_weights(), _random_tokens()
    with torch.inference_mode():
        expected = _embed(weights, tokens)
    name: str | None = None
    results = []
    for precision in precisions:
        difference, rate, problem = None, None, None
        try:
            opened = open_device(kind, precision, None)
            name = opened.name
            difference, rate = _worst_difference(weights, tokens, expected, opened.device, precision, seconds)
        except LoadFailedError as error:
            problem = str(error)
        except Exception as error:  # a driver can fail in any way
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
        if difference is not None and not difference <= ALLOWED[precision]:
            problem = (
                f"The results differ by {difference:.2g} from the processor's; "
                f"{ALLOWED[precision]:g} is allowed."
            )
        results.append(
            {
                "precision": precision,
                # NaN is no JSON.
                "difference": difference if difference is not None and difference < float("inf") else None,
                "passes_per_second": rate,
                "allowed": ALLOWED[precision],
                "problem": problem,
            }
        )
    return {"type": "device_check", "name": name, "results": results}


def _random_weights() -> Esm2:
    generator = torch.Generator().manual_seed(11)
    model = Esm2(_CONFIG)
    for parameter_name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            scale = 1.0 if parameter_name.startswith("embedding") else parameter.shape[1] ** -0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return model


def _random_tokens() -> Tensor:
    """Tokens int64 [T]: amino acids, `<cls>` 0 and `<eos>` 2 around each sequence."""
    generator = torch.Generator().manual_seed(12)
    sequences = []
    for length in _LENGTHS:
        sequence = torch.randint(4, 24, (length,), generator=generator)
        sequence[0], sequence[-1] = 0, 2
        sequences.append(sequence)
    return torch.cat(sequences)


def _worst_difference(
    weights: Esm2,
    tokens: Tensor,
    expected: Tensor,
    device: torch.device,
    precision: Precision,
    seconds: float,
) -> tuple[float, float]:
    """The largest relative difference of an embedding in any pass, infinite where one is not a number, and
    passes per second, the first left out."""
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
    """Embeddings FP32 [sequences, width], in main memory."""
    return model.embed(tokens, SequenceLayout.from_lengths(_LENGTHS, tokens.device)).cpu()


def _difference(got: Tensor, expected: Tensor) -> float:
    relative = (got - expected).norm(dim=1) / expected.norm(dim=1)
    worst = float(relative.max())
    return worst if worst == worst else float("inf")


def main() -> None:
    """Check one kind of device, given with its precisions as arguments; the report is one JSON object on
    standard output.
    """
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.device_check", description=__doc__)
    parser.add_argument("kind", choices=get_args(DeviceKind))
    parser.add_argument("precisions", help="such as fp32,bf16")
    arguments = parser.parse_args()
    report = check_device(arguments.kind, arguments.precisions.split(","))
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
