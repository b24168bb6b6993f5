"""Times `predict`, from sequences to tables.

    npm run bench -- predict --from CONTIGS.fa... --work FOLDER

For each workload (150-bp reads, contigs in 500-bp chunks, reads with copies) it makes an input, runs
`predict` with a model of random weights at the published shapes (or --model), and reads the run's own
database. The first run starts with empty caches of compiled kernels and of verified files. The weights are
always in the page cache.

`--devices` may be given several times, such as `--devices 0 --devices 0,1 --devices 0,1,2,3`: each input is
then run on each set, and rates and tables are compared with those of the first. Equal proteins are computed
as often as they occur, as in all headline figures, except in the workload `copies`, which is run both ways.

On a GPU server without npm: install the wheel of `npm run pack:wheel` there, set
PYTHONPATH=python-backend/src:python-backend, and run `python -m benchmarks.predict --cli virnucpro ...` in
the project's folder.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.predict.inputs import WORKLOADS, bench_input
from benchmarks.predict.result_tables import unequal_tables
from benchmarks.predict.row import ROOT, Bench, predict_row, row_lines

EACH = "--no-embed-equal-sequences-once"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the workloads; return the exit code, which is also 1 if tables differ."""
    arguments = _parser().parse_args(argv)
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        if arguments.only_inputs:
            for workload in arguments.workloads:
                _input(arguments, workload)
            return 0
        model = arguments.model or _random_model(arguments.work / "model", arguments.seed)
        if not arguments.warm:
            for cache in ("kernels", "cache"):
                shutil.rmtree(arguments.work / cache, ignore_errors=True)
        return max([_workload(arguments, workload, model) for workload in arguments.workloads])
    except (subprocess.CalledProcessError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def _workload(arguments: argparse.Namespace, workload: str, model: Path) -> int:
    source = _input(arguments, workload)
    rows: dict[str, dict[str, Any]] = {}
    unequal, first_options = False, list[str]()
    for name, devices, options in _runs(arguments, workload):
        bench = Bench(
            arguments.cli, arguments.work, model, arguments.precision, options, arguments.keep_runs,
        )  # fmt: skip
        rows[name] = predict_row(bench, source, name, devices)
        print("\n".join(row_lines(name, rows[name])), flush=True)
        if len(rows) > 1:
            _compare(rows, name)
            # Other batches may change the last digits; other devices must not.
            unequal |= bool(rows[name]["unequal_tables"]) and options == first_options
        else:
            first_options = options
        if arguments.json is not None:
            _merge(arguments.json, rows)
    return int(unequal)


def _runs(arguments: argparse.Namespace, workload: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield name, devices and further options of each run of a workload."""
    for devices in arguments.devices or ["auto"]:
        name = workload if len(arguments.devices or []) < 2 else f"{workload}-on-{devices.replace(',', '-')}"
        yield name, devices, [EACH]
        if workload == "copies":
            yield f"{name}-embedded-once", devices, []


def _compare(rows: dict[str, dict[str, Any]], name: str) -> None:
    """Compare a row with the first; store and print the result."""
    first, row = next(iter(rows)), rows[name]
    row["compared_with"] = first
    row["unequal_tables"] = unequal_tables(rows[first]["tables"], row["tables"])
    print(f"  tables                     {', '.join(row['unequal_tables']) or 'none'} differ from {first}'s")
    ours, theirs = row["run"]["steady"], rows[first]["run"]["steady"]
    if ours and theirs:
        row["speedup"] = round(ours["residues_per_second"] / theirs["residues_per_second"], 4)
        print(f"  steady state               {row['speedup']:10.3f} x {first}'s")
    sys.stdout.flush()


def _input(arguments: argparse.Namespace, workload: str) -> Any:
    count = arguments.contigs if workload == "contigs" else arguments.reads
    return bench_input(arguments.work, workload, count, arguments.seed, arguments.sources)


def _random_model(folder: Path, seed: int) -> Path:
    """Make a model folder of random weights, unless there is one already."""
    if not (folder / "model.json").exists():
        module = ["-m", "benchmarks.predict.random_model", str(folder), "--seed", str(seed)]
        command = [sys.executable, "-X", "utf8", *module]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return folder


def _merge(path: Path, rows: dict[str, dict[str, Any]]) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | rows, indent=1) + "\n", encoding="utf-8")


def _path(text: str) -> Path:
    """Resolve a path against the user's folder, as subprocesses run in the project's folder."""
    return Path(text).resolve()


def _workloads(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise argparse.ArgumentTypeError(f"not one of {', '.join(WORKLOADS)}: {', '.join(unknown)}")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.predict",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--from", dest="sources", type=_path, nargs="+", required=True, metavar="FASTA")
    parser.add_argument("--work", type=_path, required=True, help="folder for model, inputs and runs")
    parser.add_argument("--model", type=_path, help="model folder (default: random weights, made once)")
    parser.add_argument("--workloads", type=_workloads, default=list(WORKLOADS), help="default: all")
    parser.add_argument("--reads", type=int, default=80_000, help="reads to make (default 80000)")
    parser.add_argument("--contigs", type=int, default=9_000, help="contigs to make (default 9000)")
    parser.add_argument("--precision", default="auto", choices=("auto", "bf16", "fp16", "fp32", "fp8"))
    parser.add_argument(
        "--devices",
        action="append",
        help="as for predict (default: auto); may be repeated",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--warm",
        action="store_true",
        help="keep the caches of an earlier call",
    )
    parser.add_argument("--only-inputs", action="store_true", help="make the inputs, and run nothing")
    parser.add_argument("--keep-runs", action="store_true", help="keep the runs' work folders")
    parser.add_argument("--cli", default="node build/bootstrap.mjs electron/cli/main.ts")
    parser.add_argument("--json", type=_path, help="file to add the rows to")
    return parser


if __name__ == "__main__":
    sys.exit(main())
