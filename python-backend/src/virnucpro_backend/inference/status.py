"""A worker's current step, updated by its threads and sent to the engine every two seconds.

It imports nothing heavy, as the first heartbeats are sent while PyTorch is still being imported.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from virnucpro_backend.devices.host import own_memory_bytes
from virnucpro_backend.protocol import Channel

HEARTBEAT_SECONDS = 2.0
BEATS_PER_LOG_LINE = 5

Step = Literal["starting", "loading", "idle", "reading", "computing", "writing", "stopping"]
_BY_IMPORTANCE: tuple[Step, ...] = (
    "stopping",
    "starting",
    "loading",
    "computing",
    "writing",
    "reading",
)
"""Reading, computing and writing run at the same time; the first of these in progress is reported."""


log = logging.getLogger(__name__)


class WorkerStatus:
    """The steps in progress, with their parts, and how many have been finished. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[Step, str | None] = {}
        self._steps_done = 0
        self.device_memory_bytes: Callable[[], int] = lambda: 0
        """Replaced once a device is open."""

    @contextmanager
    def doing(self, step: Step, part: str | None = None) -> Iterator[None]:
        """Mark a step as in progress; it counts as finished afterwards, even if it fails."""
        with self._lock:
            self._active[step] = part
        try:
            yield
        finally:
            with self._lock:
                self._active.pop(step, None)
                self._steps_done += 1

    def finished_step(self) -> None:
        """Count a batch, or a layer of one, within the step `computing`."""
        with self._lock:
            self._steps_done += 1

    def now(self) -> tuple[Step, int, str | None]:
        """Return the current step, the number of finished steps, and the part."""
        with self._lock:
            for step in _BY_IMPORTANCE:
                if step in self._active:
                    return step, self._steps_done, self._active[step]
            return "idle", self._steps_done, None


class Heartbeat:
    """A thread that sends the status to the engine every two seconds."""

    def __init__(self, channel: Channel, status: WorkerStatus) -> None:
        self._channel = channel
        self._status = status
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Start sending heartbeats. Call this once."""
        self._thread.start()

    def end(self, timeout: float) -> None:
        """Stop sending heartbeats, as none may follow `bye`. Wait at most `timeout` seconds for the last."""
        self._end.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _beat(self) -> None:
        for number in itertools.count():
            step, steps_done, part = self._status.now()
            rss, on_device = own_memory_bytes(), self._status.device_memory_bytes()
            self._channel.emit(
                "heartbeat",
                step=step,
                steps_done=steps_done,
                part=part,
                processor_seconds=round(time.process_time(), 3),
                rss_bytes=rss,
                device_memory_bytes=on_device,
            )
            if number % BEATS_PER_LOG_LINE == 0:
                log.info("%s, memory %d MiB, on the device %d MiB", step, rss >> 20, on_device >> 20)
            if self._end.wait(HEARTBEAT_SECONDS):
                return
