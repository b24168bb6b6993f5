"""Runs a real worker process behind real pipes, and checks every line against the exported schema."""

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
from forked_worker import ForkedWorker
from made_parts import DEMO_MODEL, PartFile

SCHEMAS = Path(__file__).parents[2] / "schemas"
EVENTS = jsonschema.Draft202012Validator(
    json.loads((SCHEMAS / "worker-event.json").read_text(encoding="utf-8"))
)
COMMANDS = jsonschema.Draft202012Validator(
    json.loads((SCHEMAS / "worker-command.json").read_text(encoding="utf-8"))
)
PATIENCE = 600.0

Event = dict[str, Any]


def _fresh(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-u", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


class RunningWorker:
    """The engine's end of the protocol."""

    def __init__(self, prologue: str = "", *, fresh: bool = False) -> None:
        """`prologue`: Python code that runs in the worker's process before its `main`. `fresh`: use a
        separate interpreter and environment, as the engine does."""
        program = f"{prologue}\nfrom virnucpro_backend.worker import main\nmain()"
        self.process: subprocess.Popen[bytes] | ForkedWorker
        if sys.platform == "linux" and not fresh:
            self.process = ForkedWorker(program)
        else:
            self.process = _fresh(program)
        self.log = b""
        self.seen: list[Event] = []
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._keep_log)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> RunningWorker:
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

    def load(self, **changes: object) -> None:
        self.send(
            **{
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
                **changes,
            }
        )

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

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_for(self, kind: str, accept: Callable[[Event], bool] = lambda event: True) -> Event:
        """Wait for the next accepted event of this type; fail if the worker ends without it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            assert event is not None, f"no {kind}; the worker ended: {self.log.decode()[-3000:]}"
            if event["type"] == kind and accept(event):
                return event

    def exit_code(self) -> int:
        """Wait for the end and for all output; return the exit code."""
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
