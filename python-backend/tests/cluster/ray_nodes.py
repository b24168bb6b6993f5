"""A Ray cluster of several nodes on this computer, with a token; nothing of it is left at the end."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

import psutil

MARK = "VIRNUCPRO_TEST_FOLDER"
PATIENCE = 120.0
OBJECT_STORE_BYTES = 80_000_000


class RayCluster:
    """A head that lends nothing, and nodes that can be added and killed."""

    def __init__(self, token: str | None = "a-token-of-this-test-alone-0123456789abcdef") -> None:
        # A short path: Ray's sockets lie below it.
        self.folder = Path(tempfile.mkdtemp(prefix="vr-", dir="/tmp"))
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        (self.folder / "token").write_text(token or "", encoding="utf-8")
        (self.folder / "token").chmod(0o600)
        self.environment = {
            "RAY_AUTH_MODE": "token" if token else "disabled",
            "RAY_AUTH_TOKEN_PATH": str(self.folder / "token"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "TMPDIR": str(self.folder),
            "VIRNUCPRO_CACHE": str(self.folder / "cache"),
            MARK: str(self.folder),
        }
        self._starts: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> RayCluster:
        _adopt_orphans()
        try:
            self._start("head", ["--head", f"--port={self.port}", f"--temp-dir={self.folder}/t"], 0, 0)
            self._until(lambda: _answers(self.port))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._starts.values():
            process.terminate()
        for process in self._starts.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        for process in self.processes():
            process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, name: str, cpus: int = 1, gpus: int = 0, **environment: str) -> None:
        self._start(name, [f"--address={self.address}"], cpus, gpus, environment)
        # One after the other: at the same time two nodes of one computer may choose the same sockets.
        self._until(lambda: b"runtime started" in (self.folder / f"{name}.log").read_bytes())

    def kill_node_of(self, worker: int) -> None:
        """End the node of a worker, by its process, as if its computer lost power: nothing ends in order."""
        for process in psutil.Process(worker).parents():
            if process.name() == "raylet":
                process.kill()
                return
        raise AssertionError(f"{worker} is no process of a node")

    def processes(self, word: str = "") -> list[psutil.Process]:
        """What runs of the cluster and of what was started on it, with this word in its command line."""
        found = []
        for process in psutil.process_iter():
            try:
                of_ours = process.environ().get(MARK) == str(self.folder)
                if of_ours and word in " ".join(process.cmdline()) and process.pid != os.getpid():
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def wait_until_gone(self, word: str) -> None:
        self._until(lambda: not self.processes(word))

    def wait_until_dead(self, process: int) -> None:
        """Until this process is gone, by its number."""
        self._until(lambda: _is_dead(process))

    def _bury_orphans(self) -> None:
        own = {process.pid for process in self._starts.values()}
        for process in psutil.Process().children():
            # Those that this process has started itself are waited for by who started them.
            if process.pid in own or process.status() != psutil.STATUS_ZOMBIE:
                continue
            if process.name() != "python":
                os.waitpid(process.pid, os.WNOHANG)

    def _start(
        self, name: str, arguments: list[str], cpus: int, gpus: int, environment: dict[str, str] | None = None
    ) -> None:
        self._starts[name] = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys; from ray.scripts.scripts import main; sys.exit(main())",
                "start",
                *arguments,
                f"--num-cpus={cpus}",
                f"--num-gpus={gpus}",
                f"--object-store-memory={OBJECT_STORE_BYTES}",
                "--include-log-monitor=false",
                "--block",
            ],
            env={**os.environ, **self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=open(self.folder / f"{name}.log", "wb"),  # noqa: SIM115, closed with the process
            stderr=subprocess.STDOUT,
        )

    def _until(self, accept: object) -> None:
        deadline = time.monotonic() + PATIENCE
        while not accept():  # type: ignore[operator]
            self._bury_orphans()
            if time.monotonic() > deadline:
                words = [path.read_text(errors="replace")[-1500:] for path in self.folder.glob("*.log")]
                raise AssertionError("\n".join(words))
            time.sleep(0.5)


def _adopt_orphans() -> None:
    """Processes whose parent has died come to this one, as they come to a system's first process.

    In a container that may be one that never looks after them: then they look alive to Ray.
    """
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def _is_dead(process: int) -> bool:
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
