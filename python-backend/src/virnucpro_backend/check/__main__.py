"""`python -m virnucpro_backend.check WHAT`: check whether this installation computes correctly.

devices: a small random encoder on one kind of device, compared with the processor's FP32.
controls: whether a model tells known viral from known host sequences, and gives the original tool's answers.
precision: how much accuracy each precision of a model loses, on the user's own sequences.
speed: how fast a device runs both encoders.

Each prints a JSON list of `CheckResult`. The exit code is 1, with a sentence on standard error, if nothing
could be measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from virnucpro_backend.check.result import CheckResult
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.weights.errors import WeightsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one check; return the exit code."""
    try:
        results = _results(_parser().parse_args(argv))
    except (PrepareError, PartFailedError, WeightsError, LoadFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps([asdict(result) for result in results]))
    return 0


def _results(asked: argparse.Namespace) -> list[CheckResult]:
    """Each check imports only what it needs, as importing everything would take seconds."""
    if asked.what == "devices":
        from virnucpro_backend.check.device import check_device

        return check_device(asked.kind, asked.precisions)
    set_up_device_allocator()
    if asked.what == "speed":
        from virnucpro_backend.check.speed import measure_speed

        return [measure_speed(asked.kind, each, asked.seconds) for each in asked.precisions]
    if asked.what == "precision":
        from virnucpro_backend.check.precision import check_precisions

        return check_precisions(asked.kind, asked.precisions, asked.model, asked.input)
    from virnucpro_backend.check.panel import run_controls

    return [
        run_controls(asked.model, asked.kind, each, asked.resources, quick=asked.quick)
        for each in asked.precisions
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.check", description=__doc__)
    parser.add_argument("what", choices=("devices", "controls", "precision", "speed"))
    parser.add_argument("kind", choices=get_args(DeviceKind))
    parser.add_argument("precisions", type=lambda names: names.split(","), help="such as fp32,bf16")
    parser.add_argument("--model", type=Path, help="controls, precision: a model folder")
    parser.add_argument("--resources", type=Path, help="controls: the folder that holds controls/")
    parser.add_argument("--quick", action="store_true", help="controls: only 20 viral and 20 host sequences")
    parser.add_argument("--input", type=Path, nargs="+", help="precision: FASTA or FASTQ files")
    parser.add_argument("--seconds", type=float, default=60.0, help="speed: for each device")
    return parser


if __name__ == "__main__":
    sys.exit(main())
