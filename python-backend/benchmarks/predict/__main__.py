"""Times `predict`, from sequences to tables.

    npm run bench -- predict --from CONTIGS.fa... --work FOLDER

For each workload (150-bp reads, contigs in 500-bp chunks) it makes an input, runs `predict` with a model of
random weights at the published shapes (or --model), and reads the run's own database. The first run starts
with empty caches of compiled kernels and of verified files. The weights are always in the page cache. Other
options, such as --precision, go to `predict`.

`--devices` may be given several times, such as `--devices 0 --devices 0,1 --devices 0,1,2,3`: each input is
then run on each set, and rates and tables are compared with those of the first. Equal proteins are computed
as often as they occur.

On a GPU server without npm: install the wheel of `npm run pack:wheel` there, set
PYTHONPATH=python-backend/src:python-backend, and run `python -m benchmarks.predict --cli virnucpro ...` in
the project's folder.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.conditions import add_rows
from benchmarks.predict.inputs import WORKLOADS, bench_input
from benchmarks.predict.row import ROOT, Bench, predict_row, row_lines


def main() -> int:
    """Run the workloads; return the exit code, which is also 1 if tables differ."""
    arguments, options = _parser().parse_known_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        model = arguments.model or _random_model(arguments.work / "model")
        if not arguments.warm:
            for cache in ("kernels", "cache"):
                shutil.rmtree(arguments.work / cache, ignore_errors=True)
        bench = Bench(arguments.cli, arguments.work, model, options)
        return max([_workload(arguments, workload, bench) for workload in arguments.workloads])
    except (subprocess.CalledProcessError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def _workload(arguments: argparse.Namespace, workload: str, bench: Bench) -> int:
    count = arguments.contigs if workload == "contigs" else arguments.reads
    source = bench_input(arguments.work, workload, count, arguments.sources)
    rows: dict[str, dict[str, Any]] = {}
    for devices in arguments.devices or ["auto"]:
        name = f"{workload}-on-{devices.replace(',', '-')}"
        rows[name] = predict_row(bench, source, name, devices)
        print("\n".join(row_lines(name, rows[name])), flush=True)
        if len(rows) > 1:
            _compare(rows, name)
        if arguments.json is not None:
            add_rows(arguments.json, rows)
    return int(any(row.get("unequal_tables") for row in rows.values()))


def _compare(rows: dict[str, dict[str, Any]], name: str) -> None:
    """Compare a row with the first; store and print the result."""
    first, row = next(iter(rows)), rows[name]
    here, there = row["tables"], rows[first]["tables"]
    row["compared_with"] = first
    row["unequal_tables"] = [table for table in here | there if here.get(table) != there.get(table)]
    print(f"  tables                     {', '.join(row['unequal_tables']) or 'none'} differ from {first}'s")
    ours, theirs = row["run"]["steady"], rows[first]["run"]["steady"]
    if ours and theirs:
        row["speedup"] = round(ours["residues_per_second"] / theirs["residues_per_second"], 4)
        print(f"  steady state               {row['speedup']:10.3f} x {first}'s")
    sys.stdout.flush()


def _random_model(folder: Path) -> Path:
    """Make a model folder of random weights, unless there is one already."""
    if not (folder / "model.json").exists():
        # In a process of its own, whose memory a GPU has back before the first run.
        command = [sys.executable, "-X", "utf8", "-m", "benchmarks.predict.random_model", str(folder)]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return folder


def _path(text: str) -> Path:
    """Resolve a path against the user's folder, as subprocesses run in the project's folder."""
    return Path(text).resolve()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.predict",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--from", dest="sources", type=_path, nargs="+", required=True, metavar="FASTA")
    parser.add_argument("--work", type=_path, required=True, help="folder for model, inputs and runs")
    parser.add_argument("--model", type=_path, help="model folder (default: random weights, made once)")
    parser.add_argument("--workloads", choices=WORKLOADS, nargs="+", default=WORKLOADS, help="default: both")
    parser.add_argument("--reads", type=int, default=80_000, help="reads to make (default 80000)")
    parser.add_argument("--contigs", type=int, default=9_000, help="contigs to make (default 9000)")
    parser.add_argument("--devices", action="append", help="as for predict (default: auto); may be repeated")
    parser.add_argument("--warm", action="store_true", help="keep the caches of an earlier call")
    parser.add_argument("--cli", default="node build/bootstrap.mjs electron/cli/main.ts")
    parser.add_argument("--json", type=_path, help="file to add the rows to")
    return parser


if __name__ == "__main__":
    sys.exit(main())
