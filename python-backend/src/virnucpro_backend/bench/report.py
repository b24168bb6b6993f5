"""The benchmark's table and its JSON file, to which rows can be added one run at a time."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.bench.rows import Row, Settings
from virnucpro_backend.bench.timing import Timing
from virnucpro_backend.host import cpu_name


def record(name: str, row: Row, timing: Timing, code: str, settings: Settings) -> dict[str, Any]:
    """A measured row with all that is needed to judge or repeat it."""
    properties = torch.cuda.get_device_properties(settings.device)
    return {
        "title": row.title,
        "unit": row.unit,
        "code": code,
        "tokens_per_batch": settings.tokens_per_batch,
        **{
            key: round(value, 3) if isinstance(value, float) else value
            for key, value in asdict(timing).items()
        },
        "measured": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python -m virnucpro_backend.bench {shlex.join(sys.argv[1:])}".strip(),
        "gpu": properties.name,
        "gpu_memory_gib": round(properties.total_memory / 2**30, 1),
        "cpu": cpu_name(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "triton": _version("triton"),
            "transformers": _version("transformers"),
        },
    }


def merge(file: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Put rows into the file, in place of earlier ones of the same name."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(known | rows, indent=1) + "\n", encoding="utf-8")


def table_line(name: str, row: dict[str, Any]) -> str:
    """One line: rate, memory, clock, power."""
    clock = "" if row["sm_mhz"] is None else f"{row['sm_mhz']:5.0f} MHz {row['power_w']:4.0f} W"
    return (
        f"{name:26} {row['rate']:10,.0f} {row['unit']:10} (first second {row['rate_at_first']:10,.0f})"
        f" {row['peak_memory_gib']:6.2f} GiB  {clock}  {row['code']}"
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
