"""`python -m benchmarks.encoders`: time the encoders on a GPU; see docs/performance.md."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

import torch

from benchmarks.encoders.anchors import RowUnavailableError
from benchmarks.encoders.report import merge, record, skipped, table_line
from benchmarks.encoders.rows import ROWS, Settings
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.encoders.precision import forbid_hidden_rounding


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
    settings = Settings(torch.device("cuda", 0), arguments.tokens_per_batch, arguments.seconds)
    for name in names:
        try:
            row = record(ROWS[name], *ROWS[name].run(settings), settings)
        except RowUnavailableError as unavailable:
            row = skipped(ROWS[name], str(unavailable), settings)
        print(table_line(name, row), flush=True)
        if arguments.json is not None:
            merge(arguments.json, {name: row})
        gc.collect()
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
