"""The stop request, for which the scoring loop checks between batches."""

from __future__ import annotations

import threading


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
