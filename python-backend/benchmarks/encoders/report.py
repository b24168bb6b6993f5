"""Prints the benchmark's table, and adds rows to its JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.conditions import conditions
from benchmarks.encoders.rows import Row, Settings
from benchmarks.encoders.timing import Timing

MODULE = "benchmarks.encoders"


def record(row: Row, timing: Timing, code: str, settings: Settings) -> dict[str, Any]:
    """Make a measured row with everything that is needed to judge or repeat it."""
    return {
        "title": row.title,
        "unit": row.unit,
        "code": code,
        "tokens_per_batch": row.tokens_per_batch or settings.tokens_per_batch,
        **{
            key: round(value, 3) if isinstance(value, float) else value
            for key, value in asdict(timing).items()
        },
        **conditions(MODULE, settings.device),
    }


def skipped(row: Row, reason: str, settings: Settings) -> dict[str, Any]:
    """Make a row that could not be timed here, with the reason."""
    return {"title": row.title, "skipped": reason, **conditions(MODULE, settings.device)}


def merge(file: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Write rows to the file; they replace earlier rows of the same name."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(known | rows, indent=1) + "\n", encoding="utf-8")


def table_line(name: str, row: dict[str, Any]) -> str:
    """Make a line with rate, memory, clock and power."""
    if "skipped" in row:
        return f"{name:26} skipped: {row['skipped']}"
    clock = "" if row["sm_mhz"] is None else f"{row['sm_mhz']:5.0f} MHz {row['power_w']:4.0f} W"
    return (
        f"{name:26} {row['rate']:10,.0f} {row['unit']:10} (first second {row['rate_at_first']:10,.0f})"
        f" {row['peak_memory_gib']:6.2f} GiB  {clock}  {row['code']}"
    )
