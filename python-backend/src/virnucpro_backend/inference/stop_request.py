"""Pause, resume and stop, as the scoring loop sees them: a gate it passes between batches."""

from __future__ import annotations

import threading
from collections.abc import Callable

from virnucpro_backend.inference.status import WorkerStatus


class StoppedError(Exception):
    """The worker is to stop; what is not finished is dropped."""


class RunControl:
    """Running, paused or stopped. Stopped is final; a pause or resume that changes nothing is no error."""

    def __init__(self, status: WorkerStatus) -> None:
        self._status = status
        self._changed = threading.Condition()
        self._paused = False
        self._stopped = False

    def pause(self) -> None:
        with self._changed:
            self._paused = True

    def resume(self) -> None:
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def pass_gate(self, before_pause: Callable[[], None]) -> None:
        """Return at once while running; while paused, call `before_pause` and wait. Raises StoppedError."""
        with self._changed:
            waits = self._paused and not self._stopped
        if waits:
            before_pause()
        with self._changed:
            if self._paused and not self._stopped:
                with self._status.doing("paused"):
                    self._changed.wait_for(lambda: self._stopped or not self._paused)
            if self._stopped:
                raise StoppedError
