"""What a pool tells the engine: the one place that writes its lines, and sees to their order.

A device joins before anything else is said of it. A worker is started on it at most once at a time, its lines
come between its start and its exit, and each start is followed by exactly one exit, also where the device is
lost.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

from virnucpro_backend.protocol import Channel

LONGEST_LINE = 1 << 20
"""Bytes; a worker's lines have some hundreds."""

LAST_LINES = 40
"""Of a worker's standard error, with its exit."""

LONGEST_LAST_LINE = 2000
LONGEST_DEVICE_ID = 200

PoolFailureCode = Literal[
    "unreachable",
    "not_allowed",
    "version_differs",
    "package_missing",
    "refused_by_scheduler",
    "storage_not_shared",
    "internal_error",
]
ClusterDeviceKind = Literal["cuda", "rocm", "cpu"]
WorkerEventType = Literal[
    "hello",
    "ready",
    "load_failed",
    "progress",
    "part_done",
    "part_failed",
    "oom",
    "heartbeat",
    "log",
    "bye",
]
LogLevel = Literal["debug", "info", "warning", "error"]


class PoolFailedError(Exception):
    """Nothing can be computed by this pool. `message` says why and `next_step` what the user can do."""

    def __init__(self, code: PoolFailureCode, message: str, next_step: str) -> None:
        super().__init__(message)
        self.code: PoolFailureCode = code
        self.message = message
        self.next_step = next_step


@dataclass(frozen=True)
class ClusterDevice:
    """A device that the scheduler has lent.

    `id` is its name in the run: the node and the GPU's UUID, or what else is unique. `name` is that of the
    GPU or processor, `memory` in bytes. `until`: when the scheduler takes it back, in seconds since the
    epoch; None where it doesn't.
    """

    id: str
    node: str
    name: str
    kind: ClusterDeviceKind
    memory: int
    until: float | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.id) <= LONGEST_DEVICE_ID:
            raise ValueError(f"a device's name has 1 to {LONGEST_DEVICE_ID} characters: {self.id!r}")


@dataclass(frozen=True)
class DeviceFigures:
    """What a device is doing: percent, bytes, degrees Celsius, watts; None for what can't be read."""

    utilization_percent: float | None = None
    memory_used_bytes: int | None = None
    temperature_c: float | None = None
    power_w: float | None = None


class PoolEvents:
    """Writes a pool's lines. Safe from any thread; waits while the engine doesn't read, which holds back who
    calls it: keep what is not said yet where it is bounded.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.RLock()
        self._working: dict[str, bool] = {}
        """Whether a worker runs there, by device."""
        self._waiting: tuple[int, str] | None = None
        self._failed = False

    @property
    def devices(self) -> list[str]:
        """Those that have joined and not left."""
        with self._lock:
            return list(self._working)

    def works(self, device: str) -> bool:
        """Whether a worker has been started there and has not ended."""
        with self._lock:
            return self._working.get(device, False)

    def ready(self, version: str, job: str | None) -> None:
        """The scheduler has answered; `version` is its own, such as `Ray 2.50.0`."""
        self._channel.emit("pool_ready", version=version, job=job)

    def failed(self, error: PoolFailedError) -> None:
        """Nothing can be computed there. Said once."""
        with self._lock:
            if self._failed:
                return
            self._failed = True
        self._channel.emit("pool_failed", code=error.code, message=error.message, next_step=error.next_step)

    def waiting(self, waiting: int, reason: str) -> None:
        """So many devices have not joined yet, and why. Said when it changes."""
        with self._lock:
            if (waiting, reason) == self._waiting:
                return
            self._waiting = (waiting, reason)
            self._channel.emit("pool_waiting", waiting=waiting, reason=reason)

    def joined(self, device: ClusterDevice) -> None:
        """A device can be worked on. Raises ValueError if it has joined already."""
        with self._lock:
            if device.id in self._working:
                raise ValueError(f"{device.id} has joined already")
            self._working[device.id] = False
            self._channel.emit(
                "device_joined",
                device=device.id,
                node=device.node,
                name=device.name,
                kind=device.kind,
                memory_total_bytes=device.memory,
                until=device.until,
            )

    def left(self, device: str, reason: str) -> None:
        """A device is gone, and the worker there with it. Nothing is said of one that has not joined."""
        with self._lock:
            if device not in self._working:
                return
            self.worker_exit(device, None, None, [reason])
            del self._working[device]
            self._channel.emit("device_left", device=device, reason=reason)

    def worker_started(self, device: str) -> bool:
        """A worker is about to start there; False if none can: the device has left meanwhile, or has one."""
        with self._lock:
            if self._working.get(device) is not False:
                problem = "has a worker already" if device in self._working else "is not there any more"
                if device not in self._working:
                    # The engine asked before it knew, and waits for an end.
                    self._exit(device, None, None, [f"The device {problem}."])
                self.log("warning", f"No worker was started on {device}: it {problem}.")
                return False
            self._working[device] = True
            return True

    def worker_line(self, device: str, line: bytes | str) -> bool:
        """Pass on what a worker wrote, one line. False for what can't be a worker's line: that worker is to
        be killed. A line of a device without a worker is dropped.
        """
        event = _worker_event(line)
        with self._lock:
            if not self._working.get(device):
                return True
            if event is None:
                start = line[:200] if isinstance(line, str) else line[:200].decode("utf-8", "replace")
                self.log("error", f"The worker on {device} wrote what is not one of its messages: {start}")
                return False
            self._channel.emit("worker_line", device=device, event=event)
            return True

    def worker_exit(
        self, device: str, exit_code: int | None, signal: str | None, last_lines: Sequence[str]
    ) -> None:
        """The worker there has ended; `signal` such as SIGKILL, `last_lines` of its standard error. Said once
        for each start.
        """
        with self._lock:
            if self._working.get(device):
                self._working[device] = False
                self._exit(device, exit_code, signal, last_lines)

    def sample(self, device: str, figures: DeviceFigures) -> None:
        """What a device is doing now. Dropped for one that has not joined."""
        with self._lock:
            if device in self._working:
                self._channel.emit(
                    "device_sample",
                    device=device,
                    time=time.time(),
                    utilization_percent=figures.utilization_percent,
                    memory_used_bytes=figures.memory_used_bytes,
                    temperature_c=figures.temperature_c,
                    power_w=figures.power_w,
                )

    def log(self, level: LogLevel, message: str) -> None:
        """Words for the run's log."""
        self._channel.emit("log", level=level, message=message[:LONGEST_LAST_LINE])

    def bye(self, reason: Literal["stop", "stdin_closed", "finished"]) -> None:
        """The last line."""
        self._channel.emit("bye", reason=reason)

    def _exit(
        self, device: str, exit_code: int | None, signal: str | None, last_lines: Sequence[str]
    ) -> None:
        self._channel.emit(
            "worker_exit",
            device=device,
            exit_code=exit_code,
            signal=signal,
            last_lines=[line[:LONGEST_LAST_LINE] for line in last_lines[-LAST_LINES:]],
        )


def _worker_event(line: bytes | str) -> dict[str, Any] | None:
    """The object in a worker's line, or None if it can't be one: of another type, too long, not JSON."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("type") not in get_args(WorkerEventType):
        return None
    return value


def _no_constant(text: str) -> NoReturn:
    # NaN and infinities, which Python reads and JSON lacks.
    raise ValueError(text)
