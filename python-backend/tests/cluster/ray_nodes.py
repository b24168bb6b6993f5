"""A Ray cluster of several nodes on this computer, with a token; nothing of it is left at the end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import psutil
from running_pool import RunningPool

MARK = "VIRNUCPRO_TEST_FOLDER"
PATIENCE = 120.0
OBJECT_STORE_BYTES = 80_000_000
LOG_BYTES = 3000
"""Of the end of each log that is shown where a test fails."""

QUICK_AND_SMALL = {
    # A dead node is seen after some 3 s. One that only is slow has half a minute.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "3",
    # No Python is started that nobody has asked for.
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
}


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
            **QUICK_AND_SMALL,
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
        # By force: a node whose head is gone takes minutes to end in order.
        for start in self._starts.values():
            start.kill()
            start.wait()
        while left := self.processes():
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(0.2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, name: str, cpus: int = 1, gpus: int = 0, **environment: str) -> None:
        self._start(name, [f"--address={self.address}"], cpus, gpus, environment)
        # One after the other: at the same time two nodes of one computer may choose the same sockets.
        self._until(lambda: b"runtime started" in (self.folder / f"{name}.log").read_bytes())

    def kill_node_of(self, worker: psutil.Process) -> None:
        """End the node of a worker, as if its computer lost power: nothing ends in order."""
        for process in worker.parents():
            if process.name() == "raylet":
                process.kill()
                return
        raise AssertionError(f"{worker} is no process of a node")

    @contextlib.contextmanager
    def logs_if_it_fails(self, pool: RunningPool) -> Iterator[None]:
        """Print what Ray and the pool have logged where something fails within, or is not there in time."""
        try:
            yield
        except BaseException:
            print(f"--- the pool\n{pool.log.decode(errors='replace')[-2 * LOG_BYTES :]}\n{self.logs()}")
            raise

    def logs(self) -> str:
        """The ends of Ray's logs, those that are not empty."""
        ray = self.folder / "t" / "session_latest" / "logs"
        wanted = [
            *self.folder.glob("*.log"),
            *ray.glob("gcs_server*"),
            *ray.glob("raylet*"),
            *ray.glob("*.err"),
        ]
        ends = {
            path: path.read_text(errors="replace")[-LOG_BYTES:].strip() for path in wanted if path.is_file()
        }
        return "\n".join(f"--- {path.name}\n{end}" for path, end in ends.items() if end)

    def processes(self) -> list[psutil.Process]:
        """What runs of the cluster and of what was started on it."""
        return [
            process for process in psutil.process_iter() if process.pid != os.getpid() and self._has(process)
        ]

    def _has(self, process: psutil.Process) -> bool:
        try:
            # Ray's agents write their names over their environment; they write logs into the folder.
            return process.environ().get(MARK) == str(self.folder) or any(
                file.path.startswith(f"{self.folder}/") for file in process.open_files()
            )
        except (psutil.Error, OSError):
            return False

    def wait_until_dead(self, *processes: psutil.Process) -> None:
        """Until these very processes have ended."""
        self._until(lambda: all(map(_is_dead, processes)))

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
                f"--node-name={name}",
                f"--num-cpus={cpus}",
                f"--num-gpus={gpus}",
                f"--object-store-memory={OBJECT_STORE_BYTES}",
                f"--plasma-directory={self.folder}",
                "--include-log-monitor=false",
                "--block",
            ],
            env={**os.environ, **self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=open(self.folder / f"{name}.log", "wb"),  # noqa: SIM115, closed with the process
            stderr=subprocess.STDOUT,
        )

    def _until(self, accept: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not accept():
            self._bury_orphans()
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.5)


def _adopt_orphans() -> None:
    """Processes whose parent has died come to this one, as they come to a system's first process.

    In a container that may be one that never looks after them: then they look alive to Ray.
    """
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def _is_dead(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
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
