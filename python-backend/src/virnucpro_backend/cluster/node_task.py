"""`python -m virnucpro_backend.cluster.node_task FOLDER`: a scheduler's task, with one worker on its device.

It speaks to the pool through files below FOLDER alone: a node can't reach the computer that the pool is on.
Below `tasks` it has a folder, named by job, array task and life, and in it one for each session of the pool
(see `Sign`), with a stream of `commands` to it and one of `events` from it. It ends when the pool says so, or
gives no sign of life for some minutes.

SIGUSR1 says that the time is about to end, and SIGTERM that the scheduler wants the device back: the worker
is ended after the batch under way. Exit codes: 0 ended; 1 an error; 75 the time has ended, the task is to be
queued again.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virnucpro_backend import __version__
from virnucpro_backend.cluster.child_worker import ChildWorker
from virnucpro_backend.cluster.mailbox import (
    LineReader,
    LineTooLongError,
    LineWriter,
    Sign,
    SignFile,
    check_private,
)
from virnucpro_backend.cluster.node_device import NodeDevice, NoDeviceError, node_device
from virnucpro_backend.devices.monitor import DeviceSampler
from virnucpro_backend.protocol import PROTOCOL_VERSION

TASKS = "tasks"
COMMANDS = "commands"
EVENTS = "events"
WORKER_LINE = b"worker "
"""Before a worker's own line in a stream of events; other lines are JSON objects."""

POLL_SECONDS = 0.5
BEAT_SECONDS = 10.0
POOL_SILENT_SECONDS = 300.0
"""Without a sign of the pool, after which the device is given back."""

TIME_ENDS_GRACE_SECONDS = 60.0
"""For the batch under way when the time is about to end; the batch script asks to be told 90 s before."""

TAKEN_BACK_GRACE_SECONDS = 15.0
"""The same where the scheduler ends the task: SLURM's KillWait is 30 s."""

LINES_AT_ONCE = 2000
REQUEUE_EXIT_CODE = 75

log = logging.getLogger("node_task")


@dataclass(frozen=True)
class TaskName:
    """Which task of which job this is, and how often it has been started before."""

    job: str
    task: str
    life: int

    @property
    def folder(self) -> str:
        """Its folder below `tasks`."""
        return f"{self.job}_{self.task}.{self.life}"


def task_name(environ: Mapping[str, str]) -> TaskName:
    """The name that SLURM gives this task. Raises KeyError outside of a job."""
    job = environ.get("SLURM_ARRAY_JOB_ID") or environ["SLURM_JOB_ID"]
    return TaskName(
        job, environ.get("SLURM_ARRAY_TASK_ID") or "0", int(environ.get("SLURM_RESTART_COUNT") or 0)
    )


@dataclass(frozen=True)
class Leaving:
    """Why the task ends: `reason` in words, whether it asks to be queued again, and how many seconds a batch
    under way may take.
    """

    reason: str
    requeue: bool
    grace_seconds: float


class NodeTask:
    """One life of a task: through the sessions of the pool that come while it lasts."""

    def __init__(self, pool_folder: Path, name: TaskName, device: NodeDevice, until: float | None) -> None:
        self._folder = pool_folder / TASKS / name.folder
        self._name = name
        self._device = device
        self._until = until
        self._sign_file = SignFile(pool_folder)
        self._sign: Sign | None = None
        self._sign_changed = time.monotonic()
        self._leaving: Leaving | None = None
        self._sampler = DeviceSampler([device.uuid] if device.uuid else [])

    def leave(self, leaving: Leaving) -> None:
        """End soon; called by a signal. The first reason counts, unless another leaves less time."""
        if self._leaving is None or leaving.grace_seconds < self._leaving.grace_seconds:
            self._leaving = leaving

    def run(self) -> int:
        """Serve the pool until there is an end of it; answers with the exit code. Raises OSError."""
        if self._sign_file.age(beside=self._folder) > POOL_SILENT_SECONDS:
            self.leave(Leaving("The pool has given no sign of life for long.", False, 1))
        while True:
            sign = self._look()
            if self._leaving is not None:
                break
            if sign is not None:
                _Session(self, sign.session).run()
            else:
                time.sleep(POLL_SECONDS)
        log.info("%s", self._leaving.reason)
        return REQUEUE_EXIT_CODE if self._leaving.requeue else 0

    @property
    def leaving(self) -> Leaving | None:
        """Why the task is to end, if it is."""
        return self._leaving

    @property
    def device(self) -> NodeDevice:
        """What a worker computes on here."""
        return self._device

    def session_folder(self, session: int) -> Path:
        """Where the streams of one session of the pool are."""
        return self._folder / str(session)

    def look_for(self, session: int) -> bool:
        """Whether the pool's session is still this one, and there is no reason to leave."""
        sign = self._look()
        return self._leaving is None and (sign is None or sign.session == session)

    def hello(self) -> dict[str, Any]:
        """First line of a session: what has joined."""
        device = self._device
        return {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "backend_version": __version__,
            "job": self._name.job,
            "task": self._name.task,
            "life": self._name.life,
            "node": device.node,
            "name": device.name,
            "kind": device.kind,
            "uuid": device.uuid,
            "memory": device.memory,
            "until": self._until,
        }

    def beat(self) -> dict[str, Any]:
        """A sign of life, with the device's figures where it is a GPU."""
        devices = self._sampler.sample()["devices"]
        return {"type": "beat", "figures": devices[0] if devices else None}

    def _look(self) -> Sign | None:
        """The pool's sign where it is alive. A closed or silent pool is a reason to leave."""
        sign, now = self._sign_file.read(), time.monotonic()
        # By this computer's clock alone: whether it changes, not what time it says.
        if sign is not None and sign != self._sign:
            self._sign, self._sign_changed = sign, now
        if self._sign is not None and self._sign.closed:
            self.leave(Leaving("The pool has been closed.", False, TAKEN_BACK_GRACE_SECONDS))
        elif now - self._sign_changed > POOL_SILENT_SECONDS:
            self.leave(Leaving("The pool gives no sign of life.", False, TAKEN_BACK_GRACE_SECONDS))
        return sign


class _Session:
    """One session of the pool, as this task takes part in it."""

    def __init__(self, task: NodeTask, session: int) -> None:
        self._task = task
        self._session = session
        folder = task.session_folder(session)
        self._events = LineWriter(folder, EVENTS)
        self._commands = LineReader(folder, COMMANDS)
        self._worker: ChildWorker | None = None
        self._next_beat = 0.0
        self._writable = True

    def run(self) -> None:
        """Until the task is to leave, or the pool is another one. The worker has ended then."""
        self._say(self._task.hello())
        while self._task.look_for(self._session) and self._obey():
            self._relay()
            time.sleep(POLL_SECONDS)
        leaving = self._task.leaving
        if self._worker is not None:
            # Nobody waits for the parts of a session that has ended.
            self._worker.end(leaving.grace_seconds if leaving else 0.0)
            while self._worker is not None:
                self._relay()
                time.sleep(POLL_SECONDS / 5)
        if leaving is not None:
            self._say({"type": "left", "reason": leaving.reason, "requeue": leaving.requeue})

    def _obey(self) -> bool:
        try:
            lines = self._commands.read()
        except LineTooLongError:
            log.exception("a command can't be read")
            self._task.leave(Leaving("A command could not be read.", False, TAKEN_BACK_GRACE_SECONDS))
            return False
        for line in lines:
            command = json.loads(line)
            kind, worker = command["type"], self._worker
            if kind == "start":
                if worker is None:
                    self._start()
            elif kind == "leave":
                self._task.leave(Leaving("The pool gives it back.", False, TAKEN_BACK_GRACE_SECONDS))
                return False
            elif worker is None:
                continue  # It has ended meanwhile.
            elif kind == "command":
                worker.send(json.dumps(command["command"], separators=(",", ":")).encode("ascii"))
            elif kind == "end":
                worker.end(command["grace_seconds"])
            elif kind == "kill":
                worker.kill()
        return True

    def _start(self) -> None:
        log.info("starting a worker")
        self._worker = ChildWorker({**os.environ, **self._task.device.worker_environment()})

    def _relay(self) -> None:
        """Pass on what the worker wrote, and its end; beat. The worker waits while the pool doesn't read."""
        lines: list[bytes] = []
        now = time.monotonic()
        if now >= self._next_beat:
            self._next_beat = now + BEAT_SECONDS
            lines.append(_json(self._task.beat()))
        leaving = self._task.leaving is not None
        if self._worker is not None and (leaving or not self._events.is_ahead):
            taken = self._worker.lines(LINES_AT_ONCE)
            if self._events.is_ahead:
                taken = []  # The pool reads no more, and the worker is to end.
            lines += [WORKER_LINE + line.replace(b"\0", b"?") for line in taken]
            if (ended := self._worker.poll()) is not None:
                log.info("the worker has ended: exit code %s, signal %s", ended.exit_code, ended.signal)
                self._worker = None
                exit_line = {"exit_code": ended.exit_code, "signal": ended.signal}
                lines.append(_json({"type": "exit", **exit_line, "last_lines": ended.last_lines}))
        written = self._events.write(lines)
        if written != self._writable:
            log.warning("the shared folder %s be written to", "can again" if written else "can't")
        self._writable = written

    def _say(self, line: dict[str, Any]) -> None:
        self._events.write([_json(line)])


def _json(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode("ascii")


def main() -> None:
    """Take part in the pool of a folder, from within a task of the scheduler."""
    parser = argparse.ArgumentParser(prog="virnucpro_backend.cluster.node_task", description=__doc__)
    parser.add_argument("--processors", action="store_true", help="compute on processors, also beside GPUs")
    parser.add_argument("folder", type=Path, help="the pool's folder, on a file system that all nodes share")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
    )
    try:
        check_private(folder)
        name = task_name(os.environ)
        device = node_device(arguments.processors)
    except (OSError, NoDeviceError) as error:
        sys.exit(str(error))
    except KeyError:
        sys.exit("This is to be started by a task of SLURM: SLURM_JOB_ID is not set.")
    log.info("%s on %s: %s", name.folder, device.node, device.name)
    task = NodeTask(folder, name, device, _until(os.environ))
    signal.signal(
        signal.SIGUSR1,
        lambda *_: task.leave(Leaving("Its time is about to end.", True, TIME_ENDS_GRACE_SECONDS)),
    )
    signal.signal(
        signal.SIGTERM,
        lambda *_: task.leave(Leaving("The scheduler ended the task.", False, TAKEN_BACK_GRACE_SECONDS)),
    )
    try:
        code = task.run()
    except OSError as error:
        sys.exit(f"The pool's folder can't be used: {error}")
    sys.exit(code)


def _until(environ: Mapping[str, str]) -> float | None:
    """When the job's time ends, in seconds since the epoch; SLURM says so since 22.05."""
    text = environ.get("SLURM_JOB_END_TIME", "")
    return float(text) if re.fullmatch(r"[1-9]\d*", text) else None


if __name__ == "__main__":
    main()
