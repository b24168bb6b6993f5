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
from typing import cast, get_args

from virnucpro_backend.check.result import CheckResult
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.weights.errors import WeightsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one check; return the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        results: list[CheckResult] = arguments.run(arguments)
    except (PrepareError, PartFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    except (WeightsError, LoadFailedError) as error:
        print(f"{error.message} {error.next_step}", file=sys.stderr)
        return 1
    print(json.dumps([asdict(result) for result in results]))
    return 0


# Each check imports only what it needs, as importing everything would take seconds.


def _devices(arguments: argparse.Namespace) -> list[CheckResult]:
    from virnucpro_backend.check.device import check_device

    return check_device(arguments.kind, arguments.precisions)


def _controls(arguments: argparse.Namespace) -> list[CheckResult]:
    from virnucpro_backend.check.panel import run_controls

    set_up_device_allocator()
    model, resources = arguments.model, arguments.resources
    return [
        run_controls(model, arguments.kind, precision, resources, quick=arguments.quick)
        for precision in arguments.precisions
    ]


def _speed(arguments: argparse.Namespace) -> list[CheckResult]:
    from virnucpro_backend.check.speed import measure_speed

    set_up_device_allocator()
    return [measure_speed(arguments.kind, precision, arguments.seconds) for precision in arguments.precisions]


def _precision(arguments: argparse.Namespace) -> list[CheckResult]:
    from virnucpro_backend.check.precision import check_precisions

    set_up_device_allocator()
    return check_precisions(arguments.kind, arguments.precisions, arguments.model, arguments.input)


def _precisions(text: str) -> list[Precision]:
    known: tuple[Precision, ...] = get_args(Precision)
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"not one of {', '.join(known)}: {', '.join(unknown)}")
    return cast("list[Precision]", names)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.check", description=__doc__)
    levels = parser.add_subparsers(required=True, metavar="WHAT")

    def level(name: str, run: object, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        added = levels.add_parser(name, parents=parents)
        added.set_defaults(run=run)
        return added

    device = argparse.ArgumentParser(add_help=False)
    device.add_argument("kind", choices=get_args(DeviceKind))
    device.add_argument("precisions", type=_precisions, help="such as fp32,bf16")

    level("devices", _devices, device)
    controls = level("controls", _controls, device)
    controls.add_argument("--model", type=Path, required=True, help="a model folder")
    controls.add_argument("--resources", type=Path, required=True, help="the folder that holds controls/")
    controls.add_argument("--quick", action="store_true", help="only 20 viral and 20 host sequences")
    speed = level("speed", _speed, device)
    speed.add_argument("--seconds", type=float, default=60.0)
    precision = level("precision", _precision, device)
    precision.add_argument("--model", type=Path, required=True, help="a model folder")
    precision.add_argument("--input", type=Path, nargs="+", required=True, help="FASTA or FASTQ files")
    return parser


if __name__ == "__main__":
    sys.exit(main())
