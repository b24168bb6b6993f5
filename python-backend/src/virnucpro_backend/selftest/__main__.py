"""`python -m virnucpro_backend.selftest LEVEL`: check whether this installation computes correctly.

device: a small random encoder on one kind of device, compared with the processor's FP32.
model: reading frames with known answers, computed with an installed model.
controls: whether a model tells known viral from known host sequences.
precision: how much accuracy each precision of a model loses, on the user's own sequences.
speed: how fast a device runs both encoders.

`precision` prints a readable table and writes its JSON to a file; the others print one JSON object.
The exit code is 1, with a sentence on standard error, if nothing could be measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.batches import GPU_TOKENS_PER_BATCH
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.weights.errors import WeightsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one level; return the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        report = arguments.run(arguments)
    except PrepareError as error:
        print(error, file=sys.stderr)
        return 1
    except (WeightsError, LoadFailedError) as error:
        print(f"{error.message} {error.next_step}", file=sys.stderr)
        return 1
    except PartFailedError as error:
        print(error.message, file=sys.stderr)
        return 1
    if report is not None:
        print(json.dumps(report))
    return 0


# Each level imports only what it needs, as importing everything would take seconds.


def _device(arguments: argparse.Namespace) -> dict[str, Any]:
    from virnucpro_backend.selftest.device import check_device

    return check_device(arguments.kind, arguments.precisions)


def _model(arguments: argparse.Namespace) -> dict[str, Any]:
    from virnucpro_backend.selftest.model import check_answers

    return check_answers(arguments.kind, arguments.precisions, arguments.model, arguments.reference)


def _controls(arguments: argparse.Namespace) -> dict[str, Any]:
    from virnucpro_backend.controls.panel import run_controls
    from virnucpro_backend.devices.allocator import set_up_device_allocator

    set_up_device_allocator()
    return run_controls(
        arguments.model, arguments.kind, arguments.precisions[0], arguments.resources, quick=arguments.quick
    )


def _speed(arguments: argparse.Namespace) -> dict[str, Any]:
    from virnucpro_backend.devices.allocator import set_up_device_allocator
    from virnucpro_backend.selftest.speed import measure_speed

    set_up_device_allocator()
    return measure_speed(arguments.kind, arguments.precisions[0], arguments.seconds)


def _precision(arguments: argparse.Namespace) -> None:
    from virnucpro_backend.fidelity.panel import Panel, measure_panel

    panel = Panel(
        model=arguments.model,
        inputs=arguments.input,
        device=arguments.device,
        chunk_lengths=arguments.chunk_lengths,
        precisions=arguments.precisions,
        tokens_per_batch=arguments.tokens_per_batch,
        residues_per_part=arguments.residues_per_part,
    )
    report = measure_panel(panel, lambda line: print(line, flush=True))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _precisions(text: str) -> list[Precision]:
    known: tuple[Precision, ...] = get_args(Precision)
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"not one of {', '.join(known)}: {', '.join(unknown)}")
    return cast("list[Precision]", names)


def _lengths(text: str) -> list[int]:
    return [int(length) for length in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.selftest", description=__doc__)
    levels = parser.add_subparsers(required=True, metavar="LEVEL")

    def level(name: str, run: object, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        added = levels.add_parser(name, parents=parents)
        added.set_defaults(run=run)
        return added

    device = argparse.ArgumentParser(add_help=False)
    device.add_argument("kind", choices=get_args(DeviceKind))
    device.add_argument("precisions", type=_precisions, help="such as fp32,bf16")

    level("device", _device, device)
    model = level("model", _model, device)
    model.add_argument("--model", type=Path, required=True, help="a model folder")
    model.add_argument("--reference", type=Path, required=True, help="reference-answers.json")
    controls = level("controls", _controls, device)
    controls.add_argument("--model", type=Path, required=True, help="a model folder")
    controls.add_argument("--resources", type=Path, required=True, help="the folder that holds controls/")
    controls.add_argument("--quick", action="store_true", help="only 20 viral and 20 host sequences")
    speed = level("speed", _speed, device)
    speed.add_argument("--seconds", type=float, default=60.0)
    precision = level("precision", _precision)
    precision.add_argument("--model", type=Path, required=True, help="a model folder")
    precision.add_argument("--input", type=Path, nargs="+", required=True, help="FASTA or FASTQ files")
    precision.add_argument("--precisions", type=_precisions, default=["fp16", "bf16", "fp8"])
    precision.add_argument("--device", choices=("cuda", "cpu"), help="default: the first GPU, else the CPU")
    precision.add_argument("--chunk-lengths", type=_lengths, help="such as 300,500; default: the model's own")
    precision.add_argument("--json", type=Path, help="file to write")
    precision.add_argument("--tokens-per-batch", type=int, default=GPU_TOKENS_PER_BATCH)
    precision.add_argument("--residues-per-part", type=int, default=65_536)
    return parser


if __name__ == "__main__":
    sys.exit(main())
