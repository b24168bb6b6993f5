"""Times work that is queued on a GPU, for long enough that the GPU reaches its sustained clock."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch

from virnucpro_backend.devices.nvml import NvmlUnavailableError, open_nvml

STEPS_AHEAD = 2
"""How many steps the host may queue, as in the worker."""

FIRST_SECONDS = 1.0
"""The beginning of a measurement is also reported separately, as a cool GPU is faster than a warm one."""


@dataclass(frozen=True)
class Step:
    """Work to queue on the GPU, and how many sequences, residues, ... it counts for."""

    launch: Callable[[], object]
    counted: int


@dataclass(frozen=True)
class Timing:
    """Rates are per second; clock, power and utilization are medians during the run, None without NVML."""

    rate: float
    rate_at_first: float
    seconds: float
    steps: int
    peak_memory_gib: float
    sm_mhz: float | None
    power_w: float | None
    utilization: float | None


def time_steps(steps: Sequence[Step], seconds: float, device: torch.device) -> Timing:
    """Repeat the steps for this many seconds, after running each once so that nothing needs compiling."""
    for step in steps:
        step.launch()
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)

    queued: deque[torch.cuda.Event] = deque()
    counted, n_steps, at_first = 0, 0, 0.0
    with _Telemetry(device) as telemetry:
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
        **telemetry.medians(),
    )


class _Telemetry:
    """Reads clock, power and utilization four times a second while its block runs."""

    def __init__(self, device: torch.device) -> None:
        self._uuid = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
        self._samples: list[tuple[int | None, int | None, int | None]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> _Telemetry:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def medians(self) -> dict[str, float | None]:
        names = ("sm_mhz", "power_w", "utilization")
        columns = [
            [value for value in column if value is not None] for column in zip(*self._samples, strict=True)
        ]
        medians = [statistics.median(column) if column else None for column in columns or [[], [], []]]
        return dict(zip(names, medians, strict=True))

    def _sample(self) -> None:
        try:
            nvml = open_nvml()
        except NvmlUnavailableError:
            return
        api: Any = nvml.api
        handle = nvml.ask(api.nvmlDeviceGetHandleByUUID, self._uuid)
        while handle is not None and not self._done.wait(0.25):
            power = nvml.ask(api.nvmlDeviceGetPowerUsage, handle)
            rates = nvml.ask(api.nvmlDeviceGetUtilizationRates, handle)
            self._samples.append(
                (
                    nvml.ask(api.nvmlDeviceGetClockInfo, handle, api.NVML_CLOCK_SM),
                    None if power is None else power // 1000,
                    None if rates is None else int(rates.gpu),
                )
            )
