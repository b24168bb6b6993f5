"""SLURM's own programs, on this computer or on a login node by OpenSSH's client.

`squeue` is asked for named columns rather than for JSON: those are the same from SLURM 22.05 to 25, where the
JSON is an option of the build and its fields change with the version.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from virnucpro_backend.cluster.events import PoolFailedError
from virnucpro_backend.cluster.slurm.answers import refusal

PATIENCE_SECONDS = 60.0
"""For an answer: a busy slurmctld takes long."""

_ENDED_STATES = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
        *("PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
_RUNNING_STATES = frozenset({"RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"})
_COLUMNS = "%F|%K|%T|%r"
_KEPT = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SSH_AUTH_SOCK", "TERM", "TMPDIR", "USER")
"""Variables that its programs, and by way of sbatch a job, get of ours: not those that lead our Python."""

_SSH_FAILED = 255
_NOT_FOUND = 127
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%+-]*")

log = logging.getLogger(__name__)


class SlurmSilentError(Exception):
    """SLURM gives no answer now; the text says what was heard instead. It may answer later."""


@dataclass(frozen=True)
class TaskState:
    """One task of an array, as squeue lists it: its state, such as RUNNING, and why it waits."""

    job: str
    task: str
    state: str
    reason: str

    @property
    def ended(self) -> bool:
        """It won't run again by itself."""
        return self.state in _ENDED_STATES

    @property
    def runs(self) -> bool:
        """It has its node now."""
        return self.state in _RUNNING_STATES


class SlurmClient:
    """sbatch, squeue and scancel. Each call waits for the answer; safe from several threads."""

    def __init__(self, login: str | None) -> None:
        """`login`: the computer to run them on by ssh, as ssh takes it. Raises PoolFailedError."""
        self._sockets: str | None = None
        self._before: list[str] = []
        if login is not None:
            if not _LOGIN.fullmatch(login):
                raise PoolFailedError(
                    "unreachable",
                    f"{login!r} is not the name of a computer.",
                    "Give the login node as ssh takes it, such as me@cluster.example.org.",
                )
            # One connection for all calls. A path of its own: a socket's may have some 100 characters.
            self._sockets = tempfile.mkdtemp(prefix="vnp-")
            self._before = [
                *("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15"),
                *("-o", "ControlMaster=auto", "-o", f"ControlPath={self._sockets}/%C"),
                *("-o", "ControlPersist=120", login),
            ]

    def version(self) -> str:
        """Such as `Slurm 22.05.8`. Raises PoolFailedError where there is none."""
        try:
            answer = self._run(["sbatch", "--version"])
        except SlurmSilentError as error:
            raise self._unreachable(str(error)) from error
        if answer.returncode == _NOT_FOUND or "not found" in answer.stderr:
            where = self._where()
            raise PoolFailedError(
                "unreachable",
                f"SLURM's program sbatch was not found on {where}.",
                "Name the cluster's login node, or start VirNucPro there. It may need a module to be loaded.",
            )
        if answer.returncode != 0:
            raise self._unreachable(_last_line(answer.stderr))
        return "S" + answer.stdout.strip().removeprefix("s")[:100]

    def sees(self, folder: Path) -> bool:
        """Whether the folder is there where SLURM's programs run. Raises SlurmSilentError."""
        return folder.is_dir() if not self._before else self._run(["test", "-d", str(folder)]).returncode == 0

    def submit(self, script: Path, folder: Path, tasks: int, array_in_script: bool) -> str:
        """Submit an array with the pool's folder as the script's argument; answers with the job's number.

        Raises PoolFailedError.
        """
        arguments = [
            *("sbatch", "--parsable", f"--chdir={folder}"),
            f"--output={str(folder).replace('%', '%%')}/%A_%a.log",
            "--open-mode=append",
            *([] if array_in_script else [f"--array=0-{tasks - 1}"]),
            *(str(script), str(folder)),
        ]
        try:
            answer = self._run(arguments)
        except SlurmSilentError as error:
            raise self._unreachable(str(error)) from error
        if answer.returncode == _SSH_FAILED and self._before:
            raise self._unreachable(_last_line(answer.stderr))
        # `number`, or `number;cluster`; a site's own messages may stand before it.
        numbers = re.findall(r"^(\d+)(?:;[\w.-]+)?$", answer.stdout, re.MULTILINE)
        if answer.returncode != 0 or not numbers:
            if "contact slurm controller" in answer.stderr.lower():
                raise self._unreachable(_last_line(answer.stderr))
            raise refusal(answer.stderr or answer.stdout)
        return str(numbers[-1])

    def tasks(self, jobs: Sequence[str]) -> list[TaskState]:
        """All tasks of jobs that SLURM still knows: for some minutes after their end too.

        Raises SlurmSilentError.
        """
        if not jobs:
            return []
        answer = self._run(
            ["squeue", "--noheader", "--array", "--states=all", f"--jobs={','.join(jobs)}", "-o", _COLUMNS]
        )
        if answer.returncode != 0:
            if "invalid job id" in answer.stderr.lower():
                return []
            raise SlurmSilentError(_last_line(answer.stderr) or f"squeue ended with {answer.returncode}")
        found = []
        for line in answer.stdout.splitlines():
            job, task, state, reason = (*line.strip().split("|", 3), "", "", "")[:4]
            if job in jobs:
                found.append(TaskState(job, task if task.isdigit() else "0", state, reason))
        return found

    def cancel(self, what: Sequence[str]) -> bool:
        """Cancel jobs (`12`) or tasks of them (`12_3`); answers whether SLURM took it."""
        if not what:
            return True
        try:
            answer = self._run(["scancel", *what])
        except SlurmSilentError as error:
            log.warning("scancel: %s", error)
            return False
        log.info("scancel %s: %s", " ".join(what), answer.stderr.strip() or "done")
        return answer.returncode == 0 or "invalid job id" in answer.stderr.lower()

    def close(self) -> None:
        """Give up the connection."""
        if self._sockets is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [*self._before[:1], "-O", "exit", *self._before[1:]], capture_output=True, timeout=5
                )
            shutil.rmtree(self._sockets, ignore_errors=True)

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Raises SlurmSilentError where nothing could be asked."""
        command = [*self._before, shlex.join(arguments)] if self._before else list(arguments)
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in _KEPT or name.startswith(("SLURM_CONF", "SLURM_CLUSTERS", "SBATCH_", "LC_", "KRB5"))
        }
        try:
            # Not by pipes: before OpenSSH 8.5 the connection that ssh leaves open for the next call holds
            # them, and they would not end.
            with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
                ended = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=errors,
                    timeout=PATIENCE_SECONDS,
                    env=kept,
                )
                answer = subprocess.CompletedProcess(command, ended.returncode, _text(said), _text(errors))
        except FileNotFoundError as error:
            return subprocess.CompletedProcess(command, _NOT_FOUND, "", str(error))
        except subprocess.TimeoutExpired as error:
            raise SlurmSilentError(f"{arguments[0]} did not answer in {PATIENCE_SECONDS:.0f} s") from error
        except OSError as error:
            raise SlurmSilentError(str(error)) from error
        if self._before and answer.returncode == _SSH_FAILED:
            raise SlurmSilentError(_last_line(answer.stderr) or "ssh failed")
        return answer

    def _where(self) -> str:
        return self._before[-1] if self._before else "this computer"

    def _unreachable(self, heard: str) -> PoolFailedError:
        if self._before:
            step = f"See that `ssh -o BatchMode=yes {self._before[-1]}` connects without asking for anything."
        else:
            step = "Try again later, or ask who runs the cluster."
        return PoolFailedError("unreachable", f"SLURM on {self._where()} gives no answer: {heard}", step)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""
