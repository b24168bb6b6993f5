"""Workers through SLURM: an array of tasks, of which each takes part in the pool by files alone.

A pool process that ends without having been closed leaves its tasks: they wait some minutes for the next one,
which counts the sessions on and takes them over. So a program that is started again needs not queue again.
"""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import os
import re
import shlex
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from virnucpro_backend import __version__
from virnucpro_backend.cluster.commands import SlurmChoice, WorkerCommandFields
from virnucpro_backend.cluster.events import (
    ClusterDevice,
    ClusterDeviceKind,
    DeviceFigures,
    PoolEvents,
    PoolFailedError,
)
from virnucpro_backend.cluster.mailbox import (
    LineReader,
    LineTooLongError,
    LineWriter,
    Sign,
    SignFile,
)
from virnucpro_backend.cluster.node_task import (
    BEAT_SECONDS,
    COMMANDS,
    EVENTS,
    POLL_SECONDS,
    TASKS,
    WORKER_LINE,
)
from virnucpro_backend.cluster.pool import EndOfPool, Pool, main
from virnucpro_backend.cluster.slurm.answers import HELD, NEVER, describe_end, describe_waiting
from virnucpro_backend.cluster.slurm.client import SlurmClient, SlurmSilentError, TaskState
from virnucpro_backend.cluster.slurm.pool_folder import (
    last_lines,
    make_pool_folder,
    not_writable,
    remember_jobs,
    remembered_jobs,
    write_task,
)
from virnucpro_backend.protocol import PROTOCOL_VERSION

QUEUE_SECONDS = 15.0
"""Between two questions to SLURM, which serves everybody."""

TASK_SILENT_SECONDS = 180.0
"""Without a word from a task, after which its device is lost, whatever SLURM says."""

KILL_SECONDS = 30.0
"""For a task to say that its worker has been killed."""

CLOSE_SECONDS = 20.0

log = logging.getLogger(__name__)

_TASK_FOLDER = re.compile(r"(\d+)_(\d+)\.(\d+)")


def new_pool(choice: SlurmChoice, events: PoolEvents, end: EndOfPool) -> Pool:
    """A pool that speaks to SLURM."""
    return SlurmPool(choice, events, end)


@dataclass
class _Member:
    """A task in one of its lives, while it takes part in this session of the pool."""

    job: str
    task: str
    life: int
    commands: LineWriter
    events: LineReader
    last_heard: float
    device: str | None = None
    kill_by: float | None = None
    """When its worker must be known to be dead."""

    @property
    def name(self) -> str:
        """As SLURM's programs take it."""
        return f"{self.job}_{self.task}"


@dataclass(frozen=True)
class _Queue:
    """What squeue said, and when it was asked, by this computer's monotonic clock."""

    asked_at: float = 0.0
    tasks: list[TaskState] = field(default_factory=list)


class SlurmPool(Pool):
    """The tasks of one run. Two threads: one for the files, one that asks SLURM, which may take long."""

    def __init__(self, choice: SlurmChoice, events: PoolEvents, end: EndOfPool) -> None:
        super().__init__(events, end)
        self._choice = choice
        self._slurm = SlurmClient(choice.login)
        self._asks = True
        """Whether SLURM can be asked from here; it need not be where a person submits."""
        self._folder = Path()
        self._session = 0
        self._beat = 0
        self._jobs: list[str] = []
        self._members: dict[str, _Member] = {}
        """By the name of the task's folder."""
        self._ended: set[str] = set()
        """Lives of tasks that are over, and take part no more."""
        self._queue = _Queue()
        self._empty_queues = 0
        self._closing = threading.Event()
        self._lock = threading.RLock()
        self._threads: list[threading.Thread] = []

    def open(self, run_folder: Path, pool_folder: Path) -> None:
        """Submit the script, or take over the tasks of an earlier session. Raises PoolFailedError."""
        self._folder = pool_folder
        make_pool_folder(pool_folder)
        remembered = remembered_jobs(pool_folder)
        self._session = int(remembered.get("session", 0)) + 1
        version = self._version()
        self._check_shared()
        self._say_alive()
        job = None
        try:
            write_task(pool_folder)
            job = self._taken_over(remembered) or self._submitted()
            self._remember()
        except OSError as error:
            raise not_writable(pool_folder, error) from error
        self.events.ready(version, job)
        self._threads = [
            threading.Thread(target=self._follow_files, name="files", daemon=True),
            threading.Thread(target=self._follow_queue, name="queue", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def start_worker(self, device: str) -> None:
        """Have the device's task start a worker."""
        self._tell(device, {"type": "start"})

    def command_worker(self, device: str, command: WorkerCommandFields) -> None:
        """Hand a command to the device's worker."""
        self._tell(device, {"type": "command", "command": command})

    def end_worker(self, device: str, grace_seconds: float) -> None:
        """End the worker after the batch under way."""
        self._tell(device, {"type": "end", "grace_seconds": grace_seconds})
        self._expect_end(device, grace_seconds + KILL_SECONDS)

    def kill_worker(self, device: str) -> None:
        """End the worker at once; a task that doesn't say so in time is given up."""
        self._tell(device, {"type": "kill"})
        self._expect_end(device, KILL_SECONDS)

    def close(self) -> None:
        """Tell the tasks to end, and cancel those that wait."""
        self._closing.set()
        if self._session > 0:
            self._give_back()
        self._slurm.close()

    def _give_back(self) -> None:
        with contextlib.suppress(OSError):
            SignFile(self._folder).write(Sign(self._session, self._beat + 1, closed=True))
        with self._lock:
            for member in self._members.values():
                self._write(member, {"type": "leave"})
        if self._asks and not self._slurm.cancel(self._jobs):
            names = ", ".join(self._jobs)
            self.events.log(
                "warning",
                f"SLURM's jobs could not be cancelled: {names}. Their tasks end by themselves in minutes.",
            )
        for thread in self._threads:
            thread.join(CLOSE_SECONDS / 4)
        shutil.rmtree(self._folder / TASKS, ignore_errors=True)

    def abandon(self) -> None:
        """Leave the tasks to the session that comes next; they end by themselves if none does."""

    # Before the first device.

    def _version(self) -> str:
        try:
            return self._slurm.version()
        except PoolFailedError:
            if self._choice.script is not None:
                raise
            self._asks = False
            return "SLURM"

    def _check_shared(self) -> None:
        try:
            shared = not self._asks or self._slurm.sees(self._folder)
        except SlurmSilentError as error:
            raise PoolFailedError(
                "unreachable",
                f"The login node gives no answer: {error}",
                f"See that `ssh -o BatchMode=yes {self._choice.login}` connects without asking for anything.",
            ) from error
        if not shared:
            raise PoolFailedError(
                "storage_not_shared",
                f"The run's folder is not there on {self._choice.login}: {self._folder}",
                "Put runs into a folder that this computer shares with the cluster, or start VirNucPro on "
                "its login node.",
            )

    def _remember(self) -> None:
        content = {"session": self._session, "jobs": self._jobs, "script": self._choice.script}
        remember_jobs(self._folder, content)

    def _taken_over(self, remembered: dict[str, Any]) -> str | None:
        """The number of an earlier session's job that has not ended; one of another script is cancelled."""
        jobs = [job for job in remembered.get("jobs", []) if isinstance(job, str) and job.isdigit()]
        if not jobs or not self._asks:
            return None
        try:
            alive = {task.job for task in self._slurm.tasks(jobs) if not task.ended}
        except SlurmSilentError as error:
            raise PoolFailedError(
                "unreachable", f"SLURM gives no answer: {error}", "Try again later."
            ) from error
        left = [job for job in jobs if job in alive]
        if not left:
            return None
        if remembered.get("script") != self._choice.script:
            self._slurm.cancel(left)
            return None
        self._jobs = left
        log.info("job %s is taken over", ", ".join(left))
        self.events.log("info", f"Job {', '.join(left)} of SLURM is still there and is taken over.")
        return left[-1]

    def _submitted(self) -> str | None:
        script = self._choice.script
        if script is None:
            return None
        # Noted first: should this process end before it knows the job, the next one has another session.
        self._remember()
        path = self._folder / "job.sh"
        path.write_text(script, encoding="utf-8", newline="\n")
        has_array = re.search(r"^#SBATCH\s+(--array|-a)\b", script, re.MULTILINE) is not None
        job = self._slurm.submit(path, self._folder, self._choice.tasks, has_array)
        self._jobs = [job]
        return job

    # The files.

    def _follow_files(self) -> None:
        next_beat = 0.0
        while not self._closing.is_set():
            now = time.monotonic()
            if now >= next_beat:
                next_beat = now + BEAT_SECONDS
                self._say_alive()
            with self._lock:
                self._find_members()
                for folder, member in list(self._members.items()):
                    self._hear(folder, member)
                self._look_after_silent()
                self._look_at_queue()
                self._say_waiting()
            self._closing.wait(POLL_SECONDS)

    def _say_alive(self) -> None:
        self._beat += 1
        try:
            SignFile(self._folder).write(Sign(self._session, self._beat, closed=False))
        except OSError as error:
            if self._beat == 1:
                raise not_writable(self._folder, error) from error
            log.warning("the sign of life can't be written: %s", error)

    def _find_members(self) -> None:
        """Tasks that have begun to take part in this session."""
        try:
            names = os.listdir(self._folder / TASKS)
        except OSError:
            return
        for name in names:
            found = _TASK_FOLDER.fullmatch(name)
            box = self._folder / TASKS / name / str(self._session)
            if not found or name in self._members or name in self._ended or not box.is_dir():
                continue
            try:
                commands = LineWriter(box, COMMANDS)
            except OSError as error:
                log.warning("%s: %s", box, error)
                continue
            job, task, life = found.groups()
            self._members[name] = _Member(
                job, task, int(life), commands, LineReader(box, EVENTS), time.monotonic()
            )
            if job not in self._jobs:
                self._jobs.append(job)
                self._remember()

    def _hear(self, folder: str, member: _Member) -> None:
        member.commands.write([])  # What a full disk has refused.
        try:
            lines = member.events.read()
        except LineTooLongError as error:
            self._lose(folder, f"It can't be understood: {error}", cancel=True)
            return
        if lines:
            member.last_heard = time.monotonic()
        for line in lines:
            if folder not in self._members:
                return
            if line.startswith(WORKER_LINE):
                if member.device is not None:
                    usable = self.events.worker_line(member.device, line[len(WORKER_LINE) :])
                    if not usable:
                        self.kill_worker(member.device)
            else:
                try:
                    self._hear_task(folder, member, json.loads(line))
                except (ValueError, TypeError, LookupError) as error:
                    # A torn line: what this task reports can't be relied on any more. The others go on.
                    log.warning("%s sent %r: %s", folder, line[:200], error)
                    self._lose(folder, f"It can't be understood: {error}", cancel=True)
                    return

    def _hear_task(self, folder: str, member: _Member, said: dict[str, Any]) -> None:
        kind, device = said["type"], member.device
        if kind == "hello":
            self._join(folder, member, said)
        elif kind == "left":
            again = " It is queued again." if said["requeue"] else ""
            self._lose(folder, said["reason"] + again, cancel=False)
        elif device is None:
            return
        elif kind == "beat":
            if said["figures"] is not None:
                figures = {name: said["figures"].get(name) for name in _FIGURES}
                self.events.sample(device, DeviceFigures(**figures))
        elif kind == "exit":
            member.kill_by = None
            self.events.worker_exit(device, said["exit_code"], said["signal"], said["last_lines"])

    def _join(self, folder: str, member: _Member, said: dict[str, Any]) -> None:
        if said["protocol"] != PROTOCOL_VERSION or said["backend_version"] != __version__:
            self._write(member, {"type": "leave"})
            self._ended.add(folder)
            del self._members[folder]
            raise PoolFailedError(
                "version_differs",
                f"{said['node']} has version {said['backend_version']} of the Python package, this program "
                f"{__version__}.",
                "Let the batch script start the same version's Python, and resume the run.",
            )
        # An earlier life of the task, of which nothing more was heard.
        for other, earlier in list(self._members.items()):
            if earlier.name == member.name and earlier.life < member.life:
                self._lose(other, "The task was started again.", cancel=False)
        node = said["node"][:100]
        device = f"{node}/{said['uuid'] or member.name}"
        if device in self.events.devices:
            # Two tasks that SLURM has given the same GPU.
            device = f"{node}/{said['uuid']}, task {member.name}"
        kind = said["kind"] if said["kind"] in get_args(ClusterDeviceKind) else "cpu"
        name = (said["name"] or "unknown")[:200]
        until, memory = said["until"], int(said["memory"])
        member.device = device
        self.events.joined(ClusterDevice(device, node, name, cast(ClusterDeviceKind, kind), memory, until))

    def _look_after_silent(self) -> None:
        now = time.monotonic()
        for folder, member in list(self._members.items()):
            if now - member.last_heard > TASK_SILENT_SECONDS:
                self._lose(
                    folder, f"Nothing has been heard of it for {TASK_SILENT_SECONDS:.0f} s.", cancel=True
                )
            elif member.kill_by is not None and now > member.kill_by:
                self._lose(folder, "It doesn't answer.", cancel=True)

    def _lose(self, folder: str, reason: str, cancel: bool) -> None:
        """A task takes part no more."""
        member = self._members.pop(folder)
        self._ended.add(folder)
        if member.device is not None:
            self.events.left(member.device, reason)
        self._write(member, {"type": "leave"})
        if cancel and self._asks:
            # It may take long to be answered.
            threading.Thread(target=self._slurm.cancel, args=([member.name],), daemon=True).start()

    def _tell(self, device: str, command: dict[str, Any]) -> None:
        with self._lock:
            member = self._member(device)
            if member is not None:
                self._write(member, command)

    def _member(self, device: str) -> _Member | None:
        return next((member for member in self._members.values() if member.device == device), None)

    def _write(self, member: _Member, command: dict[str, Any]) -> None:
        member.commands.write([json.dumps(command, separators=(",", ":")).encode("ascii")])

    def _expect_end(self, device: str, seconds: float) -> None:
        with self._lock:
            member = self._member(device)
            if member is not None:
                by = time.monotonic() + seconds
                member.kill_by = min(by, member.kill_by or by)

    # SLURM's queue.

    def _follow_queue(self) -> None:
        while not self._closing.wait(QUEUE_SECONDS if self._queue.asked_at else POLL_SECONDS):
            with self._lock:
                jobs = list(self._jobs)
            if not self._asks or not jobs:
                continue
            asked_at = time.monotonic()
            try:
                tasks = self._slurm.tasks(jobs)
            except SlurmSilentError as error:
                log.warning("squeue: %s", error)
                continue
            with self._lock:
                self._queue = _Queue(asked_at, tasks)
                self._empty_queues = 0 if any(not task.ended for task in tasks) else self._empty_queues + 1

    def _look_at_queue(self) -> None:
        """Devices of tasks that run no more, and an end to it all where no task will run again."""
        queue = self._queue
        states = {(task.job, task.task): task for task in queue.tasks}
        for folder, member in list(self._members.items()):
            # What a task has said since SLURM was asked is newer than SLURM's answer.
            if member.last_heard >= queue.asked_at:
                continue
            state = states.get((member.job, member.task))
            if state is None or not state.runs:
                words = describe_end(state.state) if state else "SLURM does not know it any more"
                self._lose(folder, words[:1].upper() + words[1:] + ".", cancel=False)
        left = [task for task in queue.tasks if not task.ended]
        never = [task.reason for task in left if task.state == "PENDING" and task.reason in NEVER]
        if never and len(never) == len(left) and not self._members and self._choice.script is not None:
            raise PoolFailedError(
                "refused_by_scheduler",
                f"SLURM can never start the job: {describe_waiting(never[0])}.",
                "Change what the batch script asks for, and resume the run with it.",
            )
        if self._empty_queues > 1 and not self._members and self._choice.script is not None:
            raise self._all_ended(queue.tasks)

    def _all_ended(self, tasks: list[TaskState]) -> PoolFailedError:
        counts = collections.Counter(describe_end(task.state) for task in tasks)
        how = "; ".join(f"{count} x {words}" for words, count in counts.most_common(3))
        last = last_lines(self._folder)
        message = f"All tasks of SLURM's job {', '.join(self._jobs)} have ended{': ' + how if how else ''}."
        if last:
            message += f" The last log says: {last}"
        return PoolFailedError(
            "refused_by_scheduler",
            message,
            f"Read the tasks' logs in {self._folder}, mend what they name, and resume the run: it submits "
            "again.",
        )

    def _say_waiting(self) -> None:
        joined = sum(1 for member in self._members.values() if member.device is not None)
        missing = max(0, self._choice.tasks - joined)
        queue = self._queue
        if self._asks and self._jobs and queue.asked_at:
            # A task that has ended for good is not waited for.
            missing = min(missing, sum(1 for task in queue.tasks if not task.ended))
        self.events.waiting(missing, self._waiting_reason() if missing else "")

    def _waiting_reason(self) -> str:
        pending = collections.Counter(task.reason for task in self._queue.tasks if task.state == "PENDING")
        if pending:
            held = [reason for reason in pending if reason in HELD]
            return describe_waiting(held[0] if held else pending.most_common(1)[0][0])
        if self._choice.script is None and not self._jobs:
            return f"waiting for the script to be submitted: sbatch SCRIPT {shlex.quote(str(self._folder))}"
        return "the tasks are starting"


_FIGURES = ("utilization_percent", "memory_used_bytes", "temperature_c", "power_w")


if __name__ == "__main__":
    main()
