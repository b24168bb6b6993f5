"""Runs one `predict` as a user would, and reads the figures from its folder."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.conditions import conditions
from benchmarks.predict.run_figures import run_figures
from virnucpro_backend.safetensors_file import sha256_of_file

ROOT = Path(__file__).resolve().parents[3]
TABLES = ("*.txt", "*.csv", "*.tsv", "*.parquet", "*.fna")
"""The files that don't depend on the time and the devices of a run."""


@dataclass(frozen=True)
class Bench:
    """The settings of all runs of a benchmark. `options`: further arguments for `predict`."""

    cli: str
    work: Path
    model: Path
    options: Sequence[str]


def predict_row(bench: Bench, source: Path, name: str, devices: str) -> dict[str, Any]:
    """Run. Raises CalledProcessError and ValueError."""
    earlier = any((bench.work / cache).exists() for cache in ("kernels", "cache"))
    folder = bench.work / f"{name}_predictions"
    figures = _predict(bench, source, folder, devices)
    described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return {
        **conditions("benchmarks.predict", None),
        "devices": described["devices"],
        "caches_at_start": "warm" if earlier else "cold",
        "input": source.name,
        "run": figures,
        "plan": described["plan"],
        "counts": described["counts"],
        "tables": {
            table.name: sha256_of_file(table) for kind in TABLES for table in sorted(folder.glob(kind))
        },
    }


def _predict(bench: Bench, source: Path, folder: Path, devices: str) -> dict[str, Any]:
    """Run `predict` in a separate process. Raises CalledProcessError if it fails."""
    command = [
        *(*shlex.split(bench.cli), "predict", str(source), "-o", str(folder), "--force"),
        *("--model", str(bench.model), "--devices", devices, "--no-embed-equal-sequences-once"),
        *bench.options,
    ]
    environment = {
        "VIRNUCPRO_PYTHON": sys.executable,
        "VIRNUCPRO_CACHE": str(bench.work / "cache"),
        "VIRNUCPRO_DATA_DIR": str(bench.work / "data"),
        "TRITON_CACHE_DIR": str(bench.work / "kernels"),
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


def row_lines(name: str, row: dict[str, Any]) -> list[str]:
    """Format a row as lines for the terminal."""
    run = row["run"]
    names = ", ".join(device["name"] for device in row["devices"])
    lines = [
        f"{name}, on {names}: {row['input']}, {run['frames']:,} frames, "
        f"{run['residues']:,} residues; {run['parts']} parts, {row['plan']['precision']}",
        f"  start to first tokens      {run['seconds_to_first_tokens']:10.1f} s, "
        f"caches {row['caches_at_start']}",
    ]
    if steady := run["steady"]:
        lines.append(
            f"  steady state               {steady['residues_per_second']:10,.0f} residues/s, "
            f"{steady['frames_per_second']:,.0f} frames/s, "
            f"over {(steady['end'] - steady['begin']) / 1000:.1f} s"
        )
    for gpu in run["gpus"]:
        lines.append(
            f"  {gpu['device'][:12]:26} {gpu['busy_percent']:8.1f} % busy on average, "
            f"{gpu['busy_percent_lowest']:.0f} % at least; {gpu['memory_gib'] or 0:.2f} GiB; "
            f"{gpu['power_w'] or 0:.0f} W; {gpu['parts']} parts"
        )
    lines += [
        f"  end of work to tables      {run['seconds_from_last_part_to_tables']:10.2f} s "
        f"for {run['frames']:,} frames",
        f"  whole command              {run['seconds_total']:10.1f} s",
    ]
    return lines
