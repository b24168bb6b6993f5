"""Forks a worker's process from one that has imported PyTorch, as importing takes longer than most tests."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing.connection import Connection

_FORKS = multiprocessing.get_context("forkserver") if sys.platform == "linux" else None
if _FORKS is not None:
    _FORKS.set_forkserver_preload(
        ["virnucpro_backend.inference.session", "virnucpro_backend.inference.commands"]
    )


class ForkedWorker:
    """The used parts of `subprocess.Popen`, for a program that has the worker's modules already imported."""

    def __init__(self, program: str) -> None:
        assert _FORKS is not None
        their_input, our_output = _FORKS.Pipe(duplex=False)
        our_input, their_output = _FORKS.Pipe(duplex=False)
        our_errors, their_errors = _FORKS.Pipe(duplex=False)
        theirs = (their_input, their_output, their_errors)
        self._process = _FORKS.Process(target=_run, args=(program, *theirs), daemon=True)
        self._process.start()
        for end in theirs:
            end.close()
        self.stdin = os.fdopen(_taken(our_output), "wb")
        self.stdout = os.fdopen(_taken(our_input), "rb")
        self.stderr = os.fdopen(_taken(our_errors), "rb")
        assert self._process.pid is not None
        self.pid = self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self, timeout: float) -> int:
        """Return the exit code, or minus the signal's number. Raises TimeoutError."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(f"the worker has not ended in {timeout} s")
        return self._process.exitcode


def _taken(connection: Connection) -> int:
    """Return a descriptor that stays open after the connection is closed."""
    descriptor = os.dup(connection.fileno())
    connection.close()
    return descriptor


def _run(program: str, *standard: Connection) -> None:
    for descriptor, connection in enumerate(standard):
        os.dup2(connection.fileno(), descriptor)
        connection.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115, open to the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115, open to the end
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115, open to the end
    exec(program, {"__name__": "__main__"})
