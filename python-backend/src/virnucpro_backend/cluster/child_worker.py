"""The ordinary worker as the child of a process on a cluster's node: its lines, its end, its last output."""

from __future__ import annotations

import collections
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from virnucpro_backend.cluster.events import LAST_LINES, LONGEST_LINE

LINES_HELD = 1000
"""Lines that wait to be passed on; the worker waits behind them."""

LONGEST_ERROR_LINE = 1 << 14
MOST_LOG_BYTES = 16 << 20
"""Of one worker's standard error, in the task's log."""

PIPES_AFTER_EXIT_SECONDS = 2.0
"""For what the worker wrote last: children of its own may hold its pipes open."""


@dataclass(frozen=True)
class WorkerExit:
    """How a worker ended; `signal` such as SIGKILL, `last_lines` of its standard error."""

    exit_code: int | None
    signal: str | None
    last_lines: list[str]


class ChildWorker:
    """A worker process. To be made by a thread that lives as long: Linux ends the worker with that thread."""

    def __init__(self, environment: Mapping[str, str], command: list[str] | None = None) -> None:
        self._process = subprocess.Popen(
            command or [sys.executable, "-X", "utf8", "-u", "-m", "virnucpro_backend.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
        self._lines: queue.Queue[bytes] = queue.Queue(LINES_HELD)
        self._last_lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
        self._commands: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._take_lines, self._take_log)
        ]
        for thread in (*self._threads, threading.Thread(target=self._send, daemon=True)):
            thread.start()
        self._kill_at: float | None = None
        self._exited_at: float | None = None

    def send(self, command: bytes) -> None:
        """Hand it a command: one line without its end. Never waits."""
        self._commands.put(command)

    def end(self, grace_seconds: float) -> None:
        """End it after the batch under way; `poll` ends it by force after this many seconds."""
        self.send(b'{"type":"stop"}')
        kill_at = time.monotonic() + grace_seconds
        self._kill_at = min(kill_at, self._kill_at or kill_at)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def lines(self, most: int) -> list[bytes]:
        """What it wrote on standard output since the last call, up to so many lines."""
        taken: list[bytes] = []
        while len(taken) < most:
            try:
                taken.append(self._lines.get_nowait())
            except queue.Empty:
                break
        return taken

    def poll(self) -> WorkerExit | None:
        """Its end, once everything that it wrote has been taken by `lines`; None before that."""
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self.kill()
        code = self._process.poll()
        if code is None:
            return None
        self._exited_at = self._exited_at or time.monotonic()
        open_pipes = any(thread.is_alive() for thread in self._threads)
        if not self._lines.empty() or (
            open_pipes and time.monotonic() - self._exited_at < PIPES_AFTER_EXIT_SECONDS
        ):
            return None
        self._commands.put(None)
        name = None if code >= 0 else _signal_name(-code)
        return WorkerExit(code if code >= 0 else None, name, list(self._last_lines))

    def _send(self) -> None:
        assert self._process.stdin is not None
        while (command := self._commands.get()) is not None:
            try:
                self._process.stdin.write(command + b"\n")
                self._process.stdin.flush()
            except OSError:
                return  # It has just ended.

    def _take_lines(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(LONGEST_LINE + 2):
            self._lines.put(line.rstrip(b"\r\n"))

    def _take_log(self) -> None:
        assert self._process.stderr is not None
        written = 0
        while line := self._process.stderr.readline(LONGEST_ERROR_LINE):
            words = line.decode("utf-8", "replace").rstrip()
            self._last_lines.append(words)
            written += len(line)
            if written < MOST_LOG_BYTES:
                sys.stderr.write(words + "\n")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
