"""Runs a real worker process behind real pipes, and checks every line against the exported schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
from made_parts import DEMO_MODEL, PartFile

SCHEMAS = Path(__file__).parents[2] / "schemas"
PATIENCE = 600.0

Event = dict[str, Any]

LOAD: Event = {
    "type": "load",
    "device": "cpu",
    "model_folder": str(DEMO_MODEL),
    "precision": "fp32",
    "tokens_per_batch": 2048,
    "embed_equal_sequences_once": True,
    "embeddings": None,
    "memory_fraction": None,
    "most_tokens_per_batch": None,
    "placement": "auto",
    "memory_profile": None,
    "imported_embeddings": None,
    "second_head": None,
}


EVENTS, COMMANDS = (
    jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))
    for name in ("worker-event", "worker-command")
)


class RunningWorker:
    """The engine's end of the protocol."""

    def __init__(self, prologue: str = "") -> None:
        """`prologue`: Python code that runs in the worker's process before its `main`."""
        program = f"{prologue}\nfrom virnucpro_backend.worker import main\nmain()"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, open as long as the worker
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-u", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self._stdout = self.process.stdin, self.process.stdout
        self._impatience = threading.Timer(PATIENCE, self.process.kill)
        self._impatience.start()
        self.log = b""
        self.seen: list[Event] = []

    def __enter__(self) -> RunningWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.exit_code()

    def send(self, **command: object) -> None:
        COMMANDS.validate(command)
        self.send_line(json.dumps(command))

    def send_line(self, line: str) -> None:
        self.stdin.write(line.encode() + b"\n")
        self.stdin.flush()

    def load(self, **changes: object) -> None:
        self.send(**{**LOAD, **changes})

    def part(self, key: str, file: PartFile, folder: Path, **changes: object) -> None:
        self.send(
            **{
                "type": "part",
                "part": key,
                "part_path": str(file.path),
                "part_sha256": file.sha256,
                "frame_begin": 0,
                "frame_end": file.frames.count,
                "scores_path": str(folder / "scores" / f"{key}.safetensors"),
                "embeddings_path": None,
                **changes,
            }
        )

    def wait_for(self, kind: str, accept: Callable[[Event], bool] = lambda event: True) -> Event:
        """Wait for the next accepted event of this type; fail if the worker ends without it."""
        for event in self._events():
            if event["type"] == kind and accept(event):
                return event
        raise AssertionError(f"no {kind}; the worker ended with {self.exit_code()}: {self.log[-3000:]!r}")

    def exit_code(self) -> int:
        """Wait for the end and for all output; return the exit code."""
        for _ in self._events():
            pass
        code = self.process.wait()
        self._impatience.cancel()
        self._errors.seek(0)
        self.log = self._errors.read()
        return code

    def _events(self) -> Iterator[Event]:
        for line in self._stdout:
            event = json.loads(line)
            EVENTS.validate(event)
            self.seen.append(event)
            yield event
