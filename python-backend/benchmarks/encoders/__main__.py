"""`python -m benchmarks.encoders`: time the encoders on a GPU; see docs/performance.md."""

from __future__ import annotations

import argparse
import gc
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from benchmarks.conditions import add_rows, conditions
from benchmarks.encoders.rows import ROWS, Row
from benchmarks.encoders.timing import time_steps
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.encoders.precision import forbid_hidden_rounding


def measure(row: Row, tokens_per_batch: int, seconds: float, device: torch.device) -> dict[str, Any]:
    """Time a row; return it with everything that is needed to judge or repeat it."""
    tokens_per_batch = row.tokens_per_batch or tokens_per_batch
    steps, code = row.make(device, tokens_per_batch)
    timing = asdict(time_steps(steps, seconds, device))
    return {
        "title": row.title,
        "unit": row.unit,
        "code": code,
        "tokens_per_batch": tokens_per_batch,
        **{key: round(value, 3) for key, value in timing.items()},
        **conditions("benchmarks.encoders", device),
    }


def table_line(name: str, row: dict[str, Any]) -> str:
    """Make a line with rate, memory, clock and power."""
    return (
        f"{name:26} {row['rate']:10,.0f} {row['unit']:10} (first second {row['rate_at_first']:10,.0f})"
        f" {row['peak_memory_gib']:6.2f} GiB  {row['sm_mhz']:5.0f} MHz {row['power_w']:4.0f} W  {row['code']}"
    )


def main() -> int:
    """Time the chosen rows one after the other; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoders", description=__doc__)
    parser.add_argument("--rows", default=",".join(ROWS), help=f"comma-separated, of {', '.join(ROWS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="measuring time of a row (default 60)")
    parser.add_argument("--tokens-per-batch", type=int, default=24_576)
    parser.add_argument("--json", type=Path, help="file to add the rows to")
    arguments = parser.parse_args()
    names = arguments.rows.split(",")
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}")
    set_up_device_allocator()
    if not torch.cuda.is_available():
        print("There is no GPU that this PyTorch can use.", file=sys.stderr)
        return 1

    forbid_hidden_rounding()
    for name in names:
        try:
            row = measure(ROWS[name], arguments.tokens_per_batch, arguments.seconds, torch.device("cuda", 0))
        except ImportError as missing:
            print(f"{name:26} skipped: {missing}", flush=True)
            continue
        print(table_line(name, row), flush=True)
        if arguments.json is not None:
            add_rows(arguments.json, {name: row})
        gc.collect()
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
