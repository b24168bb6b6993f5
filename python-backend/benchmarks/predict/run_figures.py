"""Reads a finished run's speed from its run.db (see electron/engine/store/sqlite/runSchema.ts)."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STEADY_FROM, STEADY_TO = 0.2, 0.9
"""Shares of all residues: before the first, prepare runs too; after the second, parts are small."""


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
class Sample:
    """A sample of the monitor, in milliseconds, per cent, bytes and watts."""

    device: str
    time: int
    utilization: float | None
    memory: int | None
    power: float | None


@dataclass(frozen=True)
class Steady:
    """The middle of the work, and how many parts ended in it. Rates are per second."""

    begin: int
    end: int
    parts: int
    residues_per_second: float
    frames_per_second: float

    @property
    def seconds(self) -> float:
        return (self.end - self.begin) / 1000


@dataclass(frozen=True)
class GpuFigures:
    """One GPU: load and power during the steady state, memory over the entire run, all of its parts."""

    device: str
    parts: int
    busy_percent: float
    busy_percent_lowest: float
    memory_gib: float | None
    power_w: float | None


@dataclass(frozen=True)
class RunFigures:
    """The figures of a run that was started as a command. `gpus` is empty if none was measured."""

    parts: int
    residues: int
    frames: int
    seconds_to_first_tokens: float
    steady: Steady | None
    gpus: list[GpuFigures]
    seconds_from_last_part_to_tables: float
    seconds_total: float


def steady_state(parts: Sequence[DonePart]) -> Steady | None:
    """Compute the rate between the parts that end the first fifth and the first nine tenths of residues.

    `parts` may be of several devices. The window begins and ends with a stored part; the parts that other
    devices were computing then count by the share of their time in it. None if there are too few parts.
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
    begin, end = ordered[first].ended_at, ordered[last].ended_at
    seconds = (end - begin) / 1000
    return Steady(
        begin,
        end,
        last - first,
        sum(part.residues * part.share_within(begin, end) for part in parts) / seconds,
        sum(part.frames * part.share_within(begin, end) for part in parts) / seconds,
    )


def run_figures(folder: Path, started: float, ended: float) -> RunFigures:
    """Read the figures. `started`, `ended`: times of the command, in seconds since the epoch. Raises
    ValueError if the run is not done."""
    with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
        parts = [
            DonePart(*row)
            for row in db.execute(
                "SELECT attempt.ended_at, part.seconds, part.residues, part.frames, attempt.device"
                " FROM attempt JOIN part ON part.key = attempt.part"
                " WHERE attempt.outcome = 'done' AND part.state = 'done' ORDER BY attempt.ended_at"
            )
        ]
        samples = [
            Sample(*row)
            for row in db.execute(
                "SELECT device, time, utilization, memory, power FROM device_sample ORDER BY time"
            )
        ]
        phases = dict(db.execute("SELECT message, time FROM event WHERE code = 'phase' ORDER BY event"))
    if not parts or "done" not in phases:
        raise ValueError(f"{folder} holds no run that came to its end")
    steady = steady_state(parts)
    first, last = parts[0], parts[-1]
    return RunFigures(
        parts=len(parts),
        residues=sum(part.residues for part in parts),
        frames=sum(part.frames for part in parts),
        seconds_to_first_tokens=first.ended_at / 1000 - first.seconds - started,
        steady=steady,
        gpus=_gpus(parts, samples, steady) if steady else [],
        seconds_from_last_part_to_tables=(phases["done"] - last.ended_at) / 1000,
        seconds_total=ended - started,
    )


def _gpus(parts: Sequence[DonePart], samples: Sequence[Sample], steady: Steady) -> list[GpuFigures]:
    gpus = []
    for device in sorted({sample.device for sample in samples}):
        own = [sample for sample in samples if sample.device == device]
        during = [sample for sample in own if steady.begin <= sample.time <= steady.end]
        busy = [sample.utilization for sample in during if sample.utilization is not None]
        if not busy:
            continue
        power = [sample.power for sample in during if sample.power is not None]
        memory = [sample.memory for sample in own if sample.memory is not None]
        gpus.append(
            GpuFigures(
                device=device,
                parts=sum(part.device == device for part in parts),
                busy_percent=statistics.fmean(busy),
                busy_percent_lowest=min(busy),
                memory_gib=max(memory) / 2**30 if memory else None,
                power_w=statistics.fmean(power) if power else None,
            )
        )
    return gpus
