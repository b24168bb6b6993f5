"""Times work that is queued on a GPU, for long enough that the GPU reaches its sustained clock."""

from __future__ import annotations

import itertools
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

STEPS_AHEAD = 2
"""How many steps the host may queue, as in the worker."""

FIRST_SECONDS = 1.0
"""The beginning of a measurement is also reported separately, as a cool GPU is faster than a warm one."""

SAMPLE_SECONDS = 0.25


@dataclass(frozen=True)
class Step:
    """Work to queue on the GPU, and how many sequences, residues, ... it counts for."""

    launch: Callable[[], object]
    counted: int


@dataclass(frozen=True)
class Timing:
    """Rates are per second; clock and power are medians during the run."""

    rate: float
    rate_at_first: float
    seconds: float
    steps: int
    peak_memory_gib: float
    sm_mhz: float
    power_w: float


def time_steps(steps: Sequence[Step], seconds: float, device: torch.device) -> Timing:
    """Repeat the steps for this many seconds, after running each once so that nothing needs compiling."""
    for step in steps:
        step.launch()
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)

    queued: deque[torch.cuda.Event] = deque()
    counted, n_steps, at_first = 0, 0, 0.0
    samples: list[tuple[int, int]] = []
    started = time.perf_counter()
    for step in itertools.cycle(steps):
        step.launch()
        counted, n_steps = counted + step.counted, n_steps + 1
        event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        event.record()
        queued.append(event)
        if len(queued) > STEPS_AHEAD:
            queued.popleft().synchronize()
        elapsed = time.perf_counter() - started
        if elapsed >= SAMPLE_SECONDS * len(samples):
            samples.append((torch.cuda.clock_rate(device), torch.cuda.power_draw(device)))
        if not at_first and elapsed > FIRST_SECONDS:
            torch.cuda.synchronize(device)
            at_first = counted / (time.perf_counter() - started)
        if elapsed > seconds:
            break
    torch.cuda.synchronize(device)
    elapsed = time.perf_counter() - started
    return Timing(
        rate=counted / elapsed,
        rate_at_first=at_first or counted / elapsed,
        seconds=elapsed,
        steps=n_steps,
        peak_memory_gib=torch.cuda.max_memory_reserved(device) / 2**30,
        sm_mhz=statistics.median(clock for clock, _ in samples),
        power_w=statistics.median(power for _, power in samples) / 1000,
    )
