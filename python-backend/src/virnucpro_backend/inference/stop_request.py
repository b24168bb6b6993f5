"""How the scoring loop learns that the worker is to stop: it looks between batches."""

from __future__ import annotations

import threading


class StoppedError(Exception):
    """The worker is to stop; what is not finished is dropped."""


class StopRequest:
    """Whether the worker is to stop. Final once made. Safe from any thread."""

    def __init__(self) -> None:
        self._made = threading.Event()

    def make(self) -> None:
        """From now on, `check` raises."""
        self._made.set()

    def check(self) -> None:
        """Return at once while the worker may go on. Raises StoppedError."""
        if self._made.is_set():
            raise StoppedError
