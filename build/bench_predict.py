"""Times the whole `predict`, from sequences to tables, beside the encoders alone on the same parts.

    npm run bench:predict -- --from CONTIGS.fa... --work FOLDER

For each workload (150-bp reads, contigs in 500-bp chunks) it makes an input, runs `predict` with a model of
random weights at the published shapes (or --model), reads the run's own database, and then times ESM-2 and
DNABERT-S alone over the run's parts. The first run starts with empty caches: of compiled kernels, and of
files that were found right by their hash. The weights are in the page cache throughout.

On a GPU server without npm: carry the bundle of `npm run build:cli` and a Node 24, set PYTHONPATH to
python-backend/src, and run `python build/bench_predict.py --cli "node dist/cli/virnucpro.mjs" ...`
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from run_figures import RunFigures, run_figures
from virnucpro_backend.conditions import conditions

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = ("reads", "contigs")
SHARDS_FOR_RATES = 6


def main(words: Sequence[str] | None = None) -> int:
    """Run the workloads; returns the exit code."""
    arguments = _parser().parse_args(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    model = arguments.model or _random_model(arguments.work / "model", arguments.seed)
    for cache in ("kernels", "cache"):
        shutil.rmtree(arguments.work / cache, ignore_errors=True)
    rows: dict[str, dict[str, Any]] = {}
    for number, workload in enumerate(arguments.workloads):
        try:
            rows[workload] = _row(arguments, workload, model, caches="cold" if number == 0 else "warm")
        except (subprocess.CalledProcessError, ValueError) as error:
            print(f"{workload}: {error}", file=sys.stderr)
            return 1
        print("\n".join(_lines(workload, rows[workload])), flush=True)
        if arguments.json is not None:
            _merge(arguments.json, rows)
    return 0


def _row(arguments: argparse.Namespace, workload: str, model: Path, caches: str) -> dict[str, Any]:
    count = getattr(arguments, workload)
    source = arguments.work / f"{workload}.fa"
    made = _python_json(
        "virnucpro_backend.bench_inputs", workload, "--from", *arguments.sources, "--count", count,
        "--seed", arguments.seed, "--json", "-o", source,
    )  # fmt: skip
    run_folder = arguments.work / f"{workload}_predictions"
    figures = _predict(arguments, source, model, run_folder)
    told = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
    row: dict[str, Any] = {
        **conditions("build/bench_predict.py", None),
        "devices": told["devices"],
        "caches_at_start": caches,
        "input": made,
        "run": asdict(figures),
        "plan": told["plan"],
    }
    if arguments.rates_seconds > 0 and any(device["kind"] == "cuda" for device in told["devices"]):
        shards = sorted((run_folder / "work" / "shards").glob("*.safetensors"))[:SHARDS_FOR_RATES]
        rates = _python_json(
            "virnucpro_backend.encoder_rates", "--model", model, "--shards", *shards,
            "--precision", row["plan"]["precision"],
            "--tokens-per-batch", row["plan"]["tokens_per_batch"], "--seconds", arguments.rates_seconds,
        )  # fmt: skip
        row["encoders_alone"] = rates
        if figures.steady is not None:
            alone = rates["esm2_residues_per_second"]
            row["share_of_esm2_alone"] = round(figures.steady.residues_per_second / alone, 4)
    if not arguments.keep_runs:
        shutil.rmtree(run_folder / "work")
    return row


def _predict(arguments: argparse.Namespace, source: Path, model: Path, folder: Path) -> RunFigures:
    """Run `predict` in a process of its own, as a user does. Raises CalledProcessError if it fails."""
    command = [*shlex.split(arguments.cli), "predict", str(source), "--model", str(model), "-o", str(folder)]
    command += ["--force", "--keep-work", "--precision", arguments.precision, "--devices", arguments.devices]
    environment = {
        "VIRNUCPRO_PYTHON": sys.executable,
        "VIRNUCPRO_CACHE": str(arguments.work / "cache"),
        "VIRNUCPRO_DATA_DIR": str(arguments.work / "data"),
        "TRITON_CACHE_DIR": str(arguments.work / "kernels"),
    }
    log = folder.with_name(f"{folder.name}.log")
    started = time.time()
    with open(log, "wb") as out:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, stdout=out, stderr=out)
    ended = time.time()
    if done.returncode != 0:
        sys.stderr.write(log.read_text(encoding="utf-8", errors="replace")[-4000:])
        done.check_returncode()
    return run_figures(folder, started, ended)


def _random_model(folder: Path, seed: int) -> Path:
    """A model folder of random weights, unless there is one already."""
    if not (folder / "model.json").exists():
        _python("virnucpro_backend.random_model", folder, "--seed", seed)
    return folder


def _python(module: str, *words: object) -> str:
    command = [sys.executable, "-X", "utf8", "-m", module, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def _python_json(module: str, *words: object) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_python(module, *words).splitlines()[-1])
    return content


def _lines(workload: str, row: dict[str, Any]) -> list[str]:
    run, made = row["run"], row["input"]
    lines = [
        f"{workload}: {made['records']:,} sequences, {run['frames']:,} frames, {run['residues']:,} residues, "
        f"{made['distinct_proteins']:,} distinct proteins; {run['parts']} parts, {row['plan']['precision']}",
        f"  start to first tokens      {run['seconds_to_first_tokens']:10.1f} s, "
        f"caches {row['caches_at_start']}",
    ]
    if steady := run["steady"]:
        lines.append(
            f"  steady state               {steady['residues_per_second']:10,.0f} residues/s, "
            f"{steady['frames_per_second']:,.0f} frames/s, "
            f"over {(steady['end'] - steady['begin']) / 1000:.1f} s"
        )
    if rates := row.get("encoders_alone"):
        lines.append(
            f"  ESM-2 alone                {rates['esm2_residues_per_second']:10,.0f} residues/s; "
            f"DNABERT-S alone {rates['dnabert_s_frames_per_second']:,.0f} frames/s"
        )
    if share := row.get("share_of_esm2_alone"):
        lines.append(f"  share of ESM-2 alone       {100 * share:10.1f} %")
    if run["gpu_busy_percent"] is not None:
        lines.append(
            f"  GPU busy                   {run['gpu_busy_percent']:10.1f} % on average, "
            f"{run['gpu_busy_percent_lowest']:.0f} % at least"
        )
    if run["gpu_memory_gib"] is not None:
        lines.append(f"  GPU memory in use          {run['gpu_memory_gib']:10.2f} GiB")
    lines += [
        f"  end of work to tables      {run['seconds_from_last_part_to_tables']:10.2f} s "
        f"for {run['frames']:,} frames",
        f"  whole command              {run['seconds_total']:10.1f} s",
    ]
    return lines


def _merge(path: Path, rows: dict[str, dict[str, Any]]) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | rows, indent=1) + "\n", encoding="utf-8")


def _path(text: str) -> Path:
    """Meant from where the user stands; what is started runs in the project's folder."""
    return Path(text).resolve()


def _workloads(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise argparse.ArgumentTypeError(f"not one of {', '.join(WORKLOADS)}: {', '.join(unknown)}")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="sources", type=_path, nargs="+", required=True, metavar="FASTA")
    parser.add_argument("--work", type=_path, required=True, help="folder for model, inputs and runs")
    parser.add_argument("--model", type=_path, help="model folder (default: random weights, made once)")
    parser.add_argument("--workloads", type=_workloads, default=list(WORKLOADS), help="default: all")
    parser.add_argument("--reads", type=int, default=80_000, help="reads to make (default 80000)")
    parser.add_argument("--contigs", type=int, default=9_000, help="contigs to make (default 9000)")
    parser.add_argument("--precision", default="auto", choices=("auto", "bf16", "fp16", "fp32", "fp8"))
    parser.add_argument("--devices", default="auto", help="as of predict (default: auto)")
    parser.add_argument("--rates-seconds", type=float, default=15.0, help="for ESM-2 alone; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-runs", action="store_true", help="keep the runs' work folders")
    parser.add_argument("--cli", default="node build/bootstrap.mjs electron/cli/main.ts")
    parser.add_argument("--json", type=_path, help="file to add the rows to")
    return parser


if __name__ == "__main__":
    sys.exit(main())
