"""Reads a finished run's speed from its run.db (see electron/engine/store/sqlite/runSchema.ts)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

STEADY_FROM, STEADY_TO = 0.2, 0.9
"""Shares of all residues: before the first, prepare runs too; after the second, parts are small."""

GPUS = """
SELECT device,
  avg(utilization) FILTER (WHERE time BETWEEN :begin AND :end) AS busy_percent,
  min(utilization) FILTER (WHERE time BETWEEN :begin AND :end) AS busy_percent_lowest,
  max(memory) / 1073741824.0 AS memory_gib,
  avg(power) FILTER (WHERE time BETWEEN :begin AND :end) AS power_w
FROM device_sample GROUP BY device HAVING busy_percent IS NOT NULL ORDER BY device
"""
"""Load and power during the steady state, memory over the entire run, of each device that was measured."""


@dataclass(frozen=True)
class DonePart:
    """A part: when its scores were stored (ms), how long it took (seconds), its size and its device."""

    ended_at: int
    seconds: float
    residues: int
    frames: int
    device: str = ""

    def share_within(self, begin: int, end: int) -> float:
        """The share of its computation between two times."""
        began = self.ended_at - 1000 * self.seconds
        return max(0.0, min(self.ended_at, end) - max(began, begin)) / (1000 * self.seconds)


@dataclass(frozen=True)
class Steady:
    """The middle of the work in ms, and how many parts ended in it. Rates are per second."""

    begin: int
    end: int
    parts: int
    residues_per_second: float
    frames_per_second: float


def steady_state(parts: Sequence[DonePart]) -> Steady | None:
    """Compute the rate between the parts that end the first fifth and the first nine tenths of residues.

    `parts` are of all devices, in the order in which they ended. The window begins and ends with a stored
    part; the parts that other devices were computing then count by the share of their time in it. None if
    there are too few parts.
    """
    total = sum(part.residues for part in parts)
    done, marks = 0, list[int]()
    for number, part in enumerate(parts):
        done += part.residues
        for share in (STEADY_FROM, STEADY_TO)[len(marks) :]:
            if done >= share * total:
                marks.append(number)
    first, last = marks
    begin, end = parts[first].ended_at, parts[last].ended_at
    if end <= begin:
        return None
    seconds = (end - begin) / 1000
    return Steady(
        begin,
        end,
        last - first,
        sum(part.residues * part.share_within(begin, end) for part in parts) / seconds,
        sum(part.frames * part.share_within(begin, end) for part in parts) / seconds,
    )


def run_figures(folder: Path, started: float, ended: float) -> dict[str, Any]:
    """Read the figures. `started`, `ended`: times of the command, in seconds since the epoch. Raises
    ValueError if the run is not done."""
    with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        parts = [
            DonePart(*row)
            for row in db.execute(
                "SELECT attempt.ended_at, part.seconds, part.residues, part.frames, attempt.device"
                " FROM attempt JOIN part ON part.key = attempt.part"
                " WHERE attempt.outcome = 'done' AND part.state = 'done' ORDER BY attempt.ended_at"
            )
        ]
        phases = dict(db.execute("SELECT message, time FROM event WHERE code = 'phase' ORDER BY event"))
        if not parts or "done" not in phases:
            raise ValueError(f"{folder} holds no run that came to its end")
        steady = steady_state(parts)
        gpus = list(db.execute(GPUS, {"begin": steady.begin, "end": steady.end})) if steady else []
    first, last = parts[0], parts[-1]
    return {
        "parts": len(parts),
        "residues": sum(part.residues for part in parts),
        "frames": sum(part.frames for part in parts),
        "seconds_to_first_tokens": first.ended_at / 1000 - first.seconds - started,
        "steady": asdict(steady) if steady else None,
        "gpus": [
            {**gpu, "parts": sum(part.device == gpu["device"] for part in parts)} for gpu in map(dict, gpus)
        ],
        "seconds_from_last_part_to_tables": (phases["done"] - last.ended_at) / 1000,
        "seconds_total": ended - started,
    }
