"""What a finished run's folder tells of its speed: from run.db (see electron/engine/store/runSchema.ts)."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STEADY_FROM, STEADY_TO = 0.2, 0.9
"""Shares of all residues: before the first prepare works beside; behind the second parts are small."""


@dataclass(frozen=True)
class DonePart:
    """A part: when its scores were stored (milliseconds), how long it took (seconds), and its size."""

    ended_at: int
    seconds: float
    residues: int
    frames: int


@dataclass(frozen=True)
class Sample:
    """What the monitor read: milliseconds, per cent, bytes."""

    time: int
    utilization: float | None
    memory: int | None


@dataclass(frozen=True)
class Steady:
    """The middle of the work. Rates per second, over whole parts only."""

    begin: int
    end: int
    parts: int
    residues_per_second: float
    frames_per_second: float

    @property
    def seconds(self) -> float:
        return (self.end - self.begin) / 1000


@dataclass(frozen=True)
class RunFigures:
    """Of a run that was started as a command. GPU figures are None where no GPU was measured."""

    parts: int
    residues: int
    frames: int
    seconds_to_first_tokens: float
    steady: Steady | None
    gpu_busy_percent: float | None
    gpu_busy_percent_lowest: float | None
    gpu_memory_gib: float | None
    seconds_from_last_part_to_tables: float
    seconds_total: float


def steady_state(parts: Sequence[DonePart]) -> Steady | None:
    """The rate between the parts that end the first fifth and the first nine tenths of the residues.

    `parts` of one or several devices. The window begins and ends with a stored part, so that no part counts
    by a fraction. None where there are too few parts for a middle.
    """
    ordered = sorted(parts, key=lambda part: part.ended_at)
    total = sum(part.residues for part in ordered)
    done, marks = 0, list[int]()
    for number, part in enumerate(ordered):
        done += part.residues
        for share in (STEADY_FROM, STEADY_TO)[len(marks) :]:
            if done >= share * total:
                marks.append(number)
    first, last = marks if len(marks) == 2 else (0, 0)
    if ordered == [] or ordered[last].ended_at <= ordered[first].ended_at:
        return None
    middle = ordered[first + 1 : last + 1]
    begin, end = ordered[first].ended_at, ordered[last].ended_at
    seconds = (end - begin) / 1000
    return Steady(
        begin,
        end,
        len(middle),
        sum(part.residues for part in middle) / seconds,
        sum(part.frames for part in middle) / seconds,
    )


def run_figures(folder: Path, started: float, ended: float) -> RunFigures:
    """`started`, `ended`: when the command was, in seconds since the epoch. Raises ValueError for a run that
    is not done."""
    with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
        parts = [
            DonePart(*row)
            for row in db.execute(
                "SELECT attempt.ended_at, shard.seconds, shard.residues, shard.frames FROM attempt"
                " JOIN shard ON shard.key = attempt.shard"
                " WHERE attempt.outcome = 'done' AND shard.state = 'done' ORDER BY attempt.ended_at"
            )
        ]
        samples = [
            Sample(*row)
            for row in db.execute("SELECT time, utilization, memory FROM device_sample ORDER BY time")
        ]
        phases = dict(db.execute("SELECT message, time FROM event WHERE code = 'phase' ORDER BY event"))
    if not parts or "done" not in phases:
        raise ValueError(f"{folder} holds no run that came to its end")
    steady = steady_state(parts)
    during = [s for s in samples if steady is not None and steady.begin <= s.time <= steady.end]
    busy = [sample.utilization for sample in during if sample.utilization is not None]
    memory = [sample.memory for sample in samples if sample.memory is not None] if busy else []
    first, last = parts[0], parts[-1]
    return RunFigures(
        parts=len(parts),
        residues=sum(part.residues for part in parts),
        frames=sum(part.frames for part in parts),
        seconds_to_first_tokens=first.ended_at / 1000 - first.seconds - started,
        steady=steady,
        gpu_busy_percent=statistics.fmean(busy) if busy else None,
        gpu_busy_percent_lowest=min(busy) if busy else None,
        gpu_memory_gib=max(memory) / 2**30 if memory else None,
        seconds_from_last_part_to_tables=(phases["done"] - last.ended_at) / 1000,
        seconds_total=ended - started,
    )
