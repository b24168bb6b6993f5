"""A real pool process behind real pipes; every line either way is checked against the exported schemas."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parents[2] / "schemas"


def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


EVENTS = _validator("pool-event")
COMMANDS = _validator("pool-command")
PATIENCE = 120.0

Event = dict[str, Any]


class RunningPool:
    """The engine's end of the protocol."""

    def __init__(self, prologue: str = "", environment: dict[str, str] | None = None) -> None:
        """`prologue`: Python that runs in the pool's process before its `main`."""
        program = f"{prologue}\nfrom virnucpro_backend.cluster.pool import main\nmain()"
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-u", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )
        self.log = b""
        self.seen: list[Event] = []
        self._passed_over: list[Event] = []
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._keep_log)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> RunningPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.exit_code()

    def send(self, **command: object) -> None:
        COMMANDS.validate(command)
        self.send_line(json.dumps(command))

    def send_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_for(
        self, kind: str, accept: Callable[[Event], bool] = lambda event: True, patience: float = PATIENCE
    ) -> Event:
        """The first event of this type that is accepted and has not been waited for."""
        for event in self._passed_over:
            if event["type"] == kind and accept(event):
                self._passed_over.remove(event)
                return event
        deadline = time.monotonic() + patience
        while True:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {kind} in {patience} s: {self.log.decode()[-3000:]}") from None
            assert event is not None, f"no {kind}; the pool ended: {self.log.decode()[-3000:]}"
            if event["type"] == kind and accept(event):
                return event
            self._passed_over.append(event)

    def next_event(self, patience: float = PATIENCE) -> Event:
        """The next event of any type that has not been waited for."""
        if self._passed_over:
            return self._passed_over.pop(0)
        try:
            event = self._events.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"no event in {patience} s: {self.log.decode()[-3000:]}") from None
        assert event is not None, f"the pool ended: {self.log.decode()[-3000:]}"
        return event

    def exit_code(self) -> int:
        """Wait for the end and for everything it said."""
        code = self.process.wait(timeout=PATIENCE)
        for thread in self._threads:
            thread.join()
        return code

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            EVENTS.validate(event)
            self.seen.append(event)
            self._events.put(event)
        self._events.put(None)

    def _keep_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line
