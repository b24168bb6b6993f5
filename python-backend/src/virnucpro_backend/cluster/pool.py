"""The frame of a pool's process: `python -m virnucpro_backend.cluster`, driven over the line protocol.

Which scheduler it speaks to is said by the first command. Exit codes: 0 closed, failed in words, or standard
input closed; 1 an error of this program; 2 a command that breaks the protocol.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from virnucpro_backend.cluster.commands import (
    ClosePool,
    EndWorker,
    KillWorker,
    OpenPool,
    PoolCommand,
    RayChoice,
    SlurmChoice,
    StartWorker,
    WorkerCommand,
    WorkerCommandFields,
    parse_pool_command,
)
from virnucpro_backend.cluster.events import PoolEvents, PoolFailedError
from virnucpro_backend.protocol import Channel, EndOfCommands, MalformedCommand
from virnucpro_backend.typed_commands import CommandError

PROTOCOL_ERROR_EXIT_CODE = 2
ABANDON_SECONDS = 5.0
"""For what a pool does when the engine is gone; after that the process ends anyway."""

CLOSE_SECONDS = 60.0
"""For a pool that is being closed after the engine's end."""

log = logging.getLogger(__name__)


class Pool(ABC):
    """Devices lent by one scheduler. The frame calls these methods from one thread, one after the other, and
    not before `open` has returned; a pool's own threads report by `events`.

    Any of them may raise PoolFailedError, which ends the pool, and so does a thread by `fail`.
    """

    def __init__(self, events: PoolEvents, end: EndOfPool) -> None:
        self.events = events
        self._end = end

    @abstractmethod
    def open(self, run_folder: Path, pool_folder: Path) -> None:
        """Ask the scheduler for devices, say `ready`, and return; devices join from a thread.

        Raises PoolFailedError.
        """

    @abstractmethod
    def start_worker(self, device: str) -> None:
        """Start a worker on a device that has joined and has none."""

    @abstractmethod
    def command_worker(self, device: str, command: WorkerCommandFields) -> None:
        """Hand a command to the device's worker, in the order they come. Must not wait for it."""

    @abstractmethod
    def end_worker(self, device: str, grace_seconds: float) -> None:
        """End the worker after the batch under way, and by force after this many seconds. Must not wait."""

    @abstractmethod
    def kill_worker(self, device: str) -> None:
        """End the worker at once. Must not wait. Where its node doesn't answer, say `left`."""

    @abstractmethod
    def close(self) -> None:
        """End all workers and give back what was lent. Also after a failure, and where `open` has failed."""

    @abstractmethod
    def abandon(self) -> None:
        """The engine is gone without having closed the pool; nothing can be said any more. Must be quick."""

    def fail(self, error: PoolFailedError) -> None:
        """End the pool, from any thread."""
        self._end(error)


class EndOfPool:
    """How a pool's threads end its process: by a command in the same queue as the engine's."""

    def __init__(self, channel: Channel, events: PoolEvents) -> None:
        self._channel = channel
        self._events = events
        self.begun = threading.Event()
        """The pool is about to be closed, or has been: the end of standard input changes nothing about it."""
        self.keeps_what_is_lent = False
        """After a fault of this program, its next process takes over what the scheduler has lent."""

    def __call__(self, error: PoolFailedError) -> None:
        """Say why, and have the pool closed."""
        log.error("the pool failed: %s", error.message)
        self.keeps_what_is_lent = error.code == "internal_error"
        # First: the engine closes standard input as soon as it hears.
        self.begun.set()
        self._events.failed(error)
        self._channel.commands.put({"type": "close_pool"})


def main() -> NoReturn:
    """Carry out commands from standard input until `close_pool`, a failure, or the engine's end."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s.%(msecs)03d %(levelname)s %(threadName)s %(name)s: %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
    )
    frame = PoolFrame()
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=frame.ask_to_close, daemon=True).start())
    frame.run()


class PoolFrame:
    """One pool's process: its channel, its loop of commands, and its end."""

    def __init__(self) -> None:
        self._channel = Channel(on_eof=self._engine_gone)
        self._events = PoolEvents(self._channel)
        self._end = EndOfPool(self._channel, self._events)
        self._pool: Pool | None = None
        threading.excepthook = self._thread_failed

    def ask_to_close(self) -> None:
        """As `close_pool` does, from any thread."""
        self._channel.commands.put({"type": "close_pool"})

    def run(self) -> NoReturn:
        """Say hello, then carry out commands until the end."""
        self._channel.hello("pool")
        try:
            while True:
                command = self._next()
                if isinstance(command, ClosePool):
                    self._close()
                    self._leave(0)
                self._handle(command)
        except PoolFailedError as error:
            self._end(error)
        except Exception as error:
            log.exception("the pool failed")
            self._end(_internal(error))
        self._close()
        self._leave(0)

    def _next(self) -> PoolCommand:
        while True:
            fields = self._channel.commands.get()
            if isinstance(fields, EndOfCommands):
                continue  # The channel's reader, which saw the end first, is ending the process.
            if isinstance(fields, MalformedCommand):
                self._refuse(f"{fields.problem}: {fields.line!r}")
            try:
                command = parse_pool_command(fields)
            except CommandError as error:
                self._refuse(str(error))
            first = self._pool is None and not isinstance(command, ClosePool)
            if first != isinstance(command, OpenPool):
                self._refuse(f"{fields['type']!r} came {'before a pool was opened' if first else 'twice'}")
            return command

    def _handle(self, command: PoolCommand) -> None:
        log.info("command %s", type(command).__name__)
        if isinstance(command, OpenPool):
            self._pool = _pool_for(command.pool, self._events, self._end)
            self._pool.open(command.run_folder, command.pool_folder)
        elif self._pool is None:
            return
        elif isinstance(command, StartWorker):
            if self._events.worker_started(command.device):
                self._pool.start_worker(command.device)
        elif isinstance(command, ClosePool) or not self._events.works(command.device):
            return  # The worker has ended meanwhile, and the engine is about to read so.
        elif isinstance(command, WorkerCommand):
            self._pool.command_worker(command.device, command.command)
        elif isinstance(command, EndWorker):
            self._pool.end_worker(command.device, command.grace_seconds)
        elif isinstance(command, KillWorker):
            self._pool.kill_worker(command.device)

    def _close(self) -> None:
        self._end.begun.set()
        if self._pool is not None:
            try:
                if self._end.keeps_what_is_lent:
                    self._pool.abandon()
                else:
                    self._pool.close()
            except Exception as error:
                log.exception("closing the pool failed")
                self._events.log("error", f"The pool could not be closed: {error}")
        for device in self._events.devices:
            self._events.left(device, "The pool has been closed.")

    def _leave(self, code: int) -> NoReturn:
        self._events.bye("stop")
        _exit(code)

    def _refuse(self, problem: str) -> NoReturn:
        """A sender of unreadable lines can't be trusted in the others."""
        log.error("a command broke the protocol: %s", problem)
        self._events.log("error", f"A command broke the protocol: {problem}")
        _exit(PROTOCOL_ERROR_EXIT_CODE)

    def _engine_gone(self) -> None:
        """End at once. What was lent is the pool's to keep for an engine that comes back, or to give back."""
        if self._end.begun.is_set():
            # Giving back is under way, and takes no longer than the engine's patience.
            time.sleep(CLOSE_SECONDS)
        elif self._pool is not None:
            last = threading.Thread(target=self._pool.abandon, daemon=True)
            last.start()
            last.join(ABANDON_SECONDS)
        _exit(0)

    def _thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        error = failed.exc_value
        log.critical("thread %s failed", failed.thread and failed.thread.name, exc_info=error)
        failure = error if isinstance(error, PoolFailedError) else _internal(error)
        self._end(failure)


def _pool_for(choice: RayChoice | SlurmChoice, events: PoolEvents, end: EndOfPool) -> Pool:
    # Imported by name where it is wanted: Ray is an option that need not be installed.
    kind = "ray" if isinstance(choice, RayChoice) else "slurm"
    pool: Pool = import_module(f"virnucpro_backend.cluster.{kind}.pool").new_pool(choice, events, end)
    return pool


def _internal(error: BaseException | None) -> PoolFailedError:
    return PoolFailedError(
        "internal_error",
        f"The program that speaks with the cluster failed: {type(error).__name__}: {error}",
        "Resume the run. If it happens again, report it with the run's logs.",
    )


def _exit(code: int) -> NoReturn:
    """Leave without waiting for threads that wait for a cluster."""
    sys.stderr.flush()
    os._exit(code)
