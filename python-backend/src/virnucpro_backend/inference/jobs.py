"""The parts that a worker is processing, and the order in which the compute thread takes them."""

from __future__ import annotations

import itertools
import queue
import threading
from dataclasses import dataclass, field
from typing import Literal

from virnucpro_backend.inference.batching import PreparedPart
from virnucpro_backend.inference.commands import Part
from virnucpro_backend.inference.scorer import LaunchedPart


@dataclass
class Job:
    """A part in the worker. It is first waiting, and then either begun or recalled, never both."""

    command: Part
    begun_at: float = 0.0
    _state: Literal["waiting", "begun", "recalled"] = "waiting"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> bool:
        """Start computing it; False if it was recalled."""
        return self._leave_waiting("begun")

    def recall(self) -> bool:
        """Give it back; False if it has been started."""
        return self._leave_waiting("recalled")

    @property
    def recalled(self) -> bool:
        """Whether it was given back before it was started."""
        return self._state == "recalled"

    def _leave_waiting(self, state: Literal["begun", "recalled"]) -> bool:
        with self._lock:
            if self._state == "waiting":
                self._state = state
                return True
            return False


@dataclass(frozen=True)
class ToLaunch:
    """A part that has been read and waits for the device."""

    job: Job
    prepared: PreparedPart


@dataclass(frozen=True)
class ToRecompute:
    """A part with results that must be computed again."""

    job: Job
    launched: LaunchedPart


@dataclass(frozen=True)
class WakeUp:
    """Makes the compute thread check for a stop request."""


ComputeTask = ToLaunch | ToRecompute | WakeUp


class ComputeQueue:
    """Tasks for the compute thread, in order, except that wake-ups and recomputations come first."""

    def __init__(self) -> None:
        self._tasks: queue.PriorityQueue[tuple[int, int, ComputeTask]] = queue.PriorityQueue()
        self._numbers = itertools.count()

    def put(self, task: ComputeTask) -> None:
        """Queue a task. Never blocks."""
        urgency = 0 if isinstance(task, WakeUp) else 1 if isinstance(task, ToRecompute) else 2
        self._tasks.put((urgency, next(self._numbers), task))

    def get(self) -> ComputeTask:
        """Wait for the next task and return it."""
        return self._tasks.get()[2]


class StoppedError(Exception):
    """The worker must stop; unfinished work is dropped."""


class StopRequest:
    """Whether the worker must stop. A request can't be withdrawn. Safe from any thread."""

    def __init__(self) -> None:
        self._made = threading.Event()

    def make(self) -> None:
        """Make `check` raise from now on."""
        self._made.set()

    def check(self) -> None:
        """Raise StoppedError if a stop has been requested."""
        if self._made.is_set():
            raise StoppedError
