"""The line protocol between the engine and a Python process.

Each line is one JSON object: commands come in on standard input, and events go out on what was standard
output at the start. Standard error carries logs. This module imports only the standard library, so that a
process can open its channel before it imports anything that might print.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from virnucpro_backend import __version__

PROTOCOL_VERSION = 2

Command = dict[str, Any]
"""A parsed command: a JSON object with at least a text `type`."""


@dataclass(frozen=True)
class MalformedCommand:
    """A line on standard input that is not a JSON object with a text `type`; the receiver reports it."""

    line: str
    problem: str


class EndOfCommands:
    """The type of the sentinel that ends the command queue."""


END_OF_COMMANDS = EndOfCommands()

_READ_BYTES = 65536


def exit_at_once() -> NoReturn:
    """End this process without clean-up: nobody is listening, and an orphan must not keep a device."""
    os._exit(0)


class Channel:
    """This process's end of the line protocol. Make exactly one, as the first thing a process does.

    On construction standard output (descriptor 1) is duplicated for the protocol and descriptor 1 is pointed
    at standard error, so that no print of any library, C libraries included, can break a line.

    `on_eof` is called from whichever thread notices that the engine is gone: the reader at the end of its
    input, or an `emit` whose pipe is closed.
    """

    def __init__(self, on_eof: Callable[[], None] = exit_at_once) -> None:
        self._on_eof = on_eof
        self._events_fd = os.dup(1)
        os.dup2(2, 1)
        self._write_lock = threading.Lock()
        self._commands: queue.Queue[Command | MalformedCommand | EndOfCommands] = queue.Queue()
        self._reader: threading.Thread | None = None
        _die_with_parent()

    def emit(self, type: str, **fields: object) -> None:
        """Send one event. Safe from any thread; lines of several threads never mix.

        Raises ValueError for NaN and infinities, which JSON lacks, and TypeError for what JSON can't hold.
        """
        # ASCII escapes, not raw UTF-8: a path with undecodable bytes (lone surrogates) must not stop it.
        line = json.dumps({"type": type, **fields}, allow_nan=False, separators=(",", ":")) + "\n"
        pending = memoryview(line.encode("ascii"))
        with self._write_lock:
            try:
                while pending:
                    pending = pending[os.write(self._events_fd, pending) :]
                return
            except OSError:
                pass
        self._on_eof()

    def hello(self, role: str) -> None:
        """Send the first event: who this is and which protocol it speaks."""
        self.emit(
            "hello",
            protocol=PROTOCOL_VERSION,
            role=role,
            pid=os.getpid(),
            backend_version=__version__,
            python_version=platform.python_version(),
        )

    @property
    def commands(self) -> queue.Queue[Command | MalformedCommand | EndOfCommands]:
        """Commands in the order of arrival, then END_OF_COMMANDS; the first use starts the reader thread."""
        if self._reader is None:
            self._reader = threading.Thread(target=self._read_commands, name="commands", daemon=True)
            self._reader.start()
        return self._commands

    def only_command(self) -> Command:
        """The first command of a process that carries out one; its type is the problem if it is none."""
        command = self.commands.get()
        if isinstance(command, EndOfCommands):
            return {"type": "nothing"}
        return {"type": command.problem} if isinstance(command, MalformedCommand) else command

    def _read_commands(self) -> None:
        for line in _lines(0):
            if line.strip():
                self._commands.put(parse_command(line))
        self._commands.put(END_OF_COMMANDS)
        self._on_eof()


def parse_command(line: bytes) -> Command | MalformedCommand:
    """Parse one line of standard input into a command, or describe what is wrong with it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return MalformedCommand(_shown(line), f"not JSON: {error}")
    if not isinstance(value, dict):
        return MalformedCommand(_shown(line), "not a JSON object")
    if not isinstance(value.get("type"), str):
        return MalformedCommand(_shown(line), "no text field 'type'")
    return value


def _shown(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace").rstrip("\r\n")


def _lines(fd: int) -> Iterator[bytes]:
    # Reads the descriptor, not sys.stdin: a daemon thread in a buffered reader can abort the shutdown.
    pieces: list[bytes] = []
    while True:
        try:
            block = os.read(fd, _READ_BYTES)
        except OSError:
            block = b""
        if not block:
            break
        first, *rest = block.split(b"\n")
        pieces.append(first)
        for piece in rest:
            yield b"".join(pieces)
            pieces = [piece]
    if any(pieces):
        yield b"".join(pieces)


def _die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies; elsewhere the closed standard input does it."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    pr_set_pdeathsig = 1
    with contextlib.suppress(OSError, AttributeError):  # Best effort: some libc has no prctl.
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, int(signal.SIGKILL), 0, 0, 0)
