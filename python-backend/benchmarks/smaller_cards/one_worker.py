"""A worker process of the backend, driven over its protocol as the engine does it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds for an answer."""


class OneWorker:
    """`prologue`: Python that runs in the process before its `main`. What it logs is added to a file."""

    def __init__(self, log: Path, prologue: str = "") -> None:
        self.seen: list[dict[str, Any]] = []
        self._log = log.open("a", encoding="utf-8")
        program = f"{prologue}\nfrom virnucpro_backend.worker import main\nmain()"
        self._process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-u", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self) -> OneWorker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def send(self, **command: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def wait_for(self, *kinds: str) -> dict[str, Any]:
        """The next event of one of these types. Raises TimeoutError, also where the process has ended."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + PATIENCE
        for line in self._process.stdout:
            event: dict[str, Any] = json.loads(line)
            self.seen.append(event)
            if event["type"] in kinds:
                return event
            if time.monotonic() > deadline:
                break
        raise TimeoutError(f"the worker sent none of {kinds}: {self.seen[-3:]}")
