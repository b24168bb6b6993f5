"""What runs on the nodes of a Ray cluster, in Ray's actors: the host of a worker, and a helper for each node.

Ray sends this package to the nodes, so that all of them run the same code; PyTorch and the other packages
they must have themselves. Imports only the standard library until it is asked for more, so that a node that
lacks a package can say so.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from virnucpro_backend.cluster.ray.models import ModelCache
    from virnucpro_backend.devices.monitor import DeviceSampler

BATCH_SECONDS = 0.05
"""A worker's lines are waited for so long after the first, to go over the network together."""

MOST_AT_ONCE = 1000
MOST_KEPT = 10_000
"""Lines that nobody has fetched: then the worker waits until somebody does."""

MOST_LOG_LINES = 2_000
"""Of those, lines of its log; further ones are dropped."""

ALONE_SECONDS = 180.0
"""Without a call of the pool, which comes every few seconds: then it is gone, or the node is cut off."""

LONGEST_LINE = 1 << 20
LAST_LINES = 40
LONGEST_LOG_LINE = 2_000
PIPES_AFTER_EXIT_SECONDS = 2.0
"""For what a worker wrote last: its children may hold its pipes open for as long as they live."""

NEEDED_PACKAGES = ("numpy", "torch", "safetensors", "tokenizers", "msgspec", "psutil")

Said = tuple[Literal["line"], bytes] | tuple[Literal["log"], str] | tuple[Literal["exit"], "WorkerEnd"]
"""A line of a worker, a line of its standard error, or its end."""

WorkerEnd = tuple[int | None, str | None, list[str]]
"""Exit code, or the signal's name; and the last lines of its standard error."""

Order = tuple[Literal["start"]] | tuple[Literal["line"], bytes]


class WorkerHost:
    """One device's actor: starts the ordinary worker as its child, and keeps what it says until that is
    fetched.

    Ray gives the actor its GPU and takes it back when the actor ends; with the actor ends its child.
    """

    def __init__(self, kind: Literal["gpu", "cpu"]) -> None:
        from virnucpro_backend.cluster.ray.files import Scratch

        self._kind = kind
        self._scratch = Scratch()
        self._environment: dict[str, str] = {}
        self._changed = threading.Condition()
        self._kept: deque[Said] = deque()
        self._first = 0
        """Number of the first that is kept; they are counted from the actor's start."""
        self._log_lines = 0
        self._obeyed = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._called_at = time.monotonic()
        threading.Thread(target=self._end_alone, name="alone", daemon=True).start()

    def device(self) -> dict[str, Any]:
        """The device that Ray has lent: `uuid` (None for a processor), `name`, `kind`, `memory` in bytes, and
        `scratch`; or `problem`, a sentence.
        """
        from virnucpro_backend.devices.host import cpu_name, memory
        from virnucpro_backend.devices.probe import probe

        scratch = str(self._scratch.folder)
        if self._kind == "cpu":
            self._environment = cpu_environment()
            return {
                "uuid": None,
                "name": cpu_name(),
                "kind": "cpu",
                "memory": memory().total,
                "scratch": scratch,
            }
        found = probe(os.environ)
        visible = [gpu for gpu in found["gpus"] if gpu["visible"] and not _is_split(gpu)]
        problem = gpu_problem(visible, found["no_gpu_reason"])
        if problem is not None:
            return {"problem": problem}
        [gpu] = visible
        self._environment = gpu_environment(gpu)
        return {
            "uuid": gpu["uuid"],
            "name": gpu["name"],
            "kind": "cuda" if gpu["vendor"] == "nvidia" else "rocm",
            "memory": gpu["memory_total_bytes"],
            "scratch": scratch,
        }

    def obey(self, number: int, order: Order) -> None:
        """Start a worker, or send it a line. Orders are numbered from 1: one that comes again, because the
        answer to it was lost, is not carried out again.
        """
        if number <= self._obeyed:
            return
        self._obeyed = number
        if order[0] == "start":
            self._start()
        elif self._child is not None and self._child.stdin is not None:
            try:
                self._child.stdin.write(order[1] + b"\n")
                self._child.stdin.flush()
            except OSError:
                pass  # It has just ended, which is on its way.

    def end(self, grace_seconds: float) -> None:
        """End the worker after the batch under way; by force after this many seconds."""
        child = self._child
        if child is None:
            return
        try:
            if child.stdin is not None:
                child.stdin.write(b'{"type":"stop"}\n')
                child.stdin.flush()
        except OSError:
            pass
        timer = threading.Timer(grace_seconds, _kill_if_running, [child])
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End the worker and its children at once."""
        if self._child is not None:
            _kill_group(self._child)

    def said(self, have: int, patience: float) -> tuple[int, list[Said]]:
        """What the worker has said since the first `have`, which are forgotten, and the number of the first
        of these. Waits for something to be said, for so many seconds at most.
        """
        self._called_at = time.monotonic()
        with self._changed:
            self._forget(have)
            self._changed.wait_for(lambda: len(self._kept) > 0, patience)
            if self._kept:
                self._changed.wait_for(lambda: len(self._kept) >= MOST_AT_ONCE, BATCH_SECONDS)
            return self._first, list(islice(self._kept, MOST_AT_ONCE))

    def write(self, name: str, offset: int, piece: bytes) -> None:
        """Put a piece of a file into the scratch folder. Raises OSError."""
        self._scratch.write(name, offset, piece)

    def read(self, name: str, offset: int) -> bytes:
        """A piece of a file in the scratch folder; an empty one at its end. Raises OSError."""
        return self._scratch.read(name, offset)

    def drop(self, names: list[str]) -> None:
        """Remove files from the scratch folder."""
        self._scratch.drop(names)

    def close(self) -> None:
        """End the worker and remove the scratch folder; the actor is about to be ended."""
        self._closed = True
        self.kill()
        self._scratch.remove()

    def _end_alone(self) -> None:
        """Ray ends the actors of a driver that is gone, but not on a node that has lost its raylet."""
        while time.monotonic() - self._called_at < ALONE_SECONDS:
            time.sleep(ALONE_SECONDS / 20)
        self.close()
        os._exit(1)

    def _start(self) -> None:
        if self._child is not None or self._closed:
            return
        started = threading.Event()
        # The system kills the worker when the thread that started it ends: this one, which waits for it.
        threading.Thread(target=self._follow, args=(started,), name="worker", daemon=True).start()
        started.wait()

    def _follow(self, started: threading.Event) -> None:
        last_lines: deque[str] = deque(maxlen=LAST_LINES)
        try:
            self._scratch.empty()
            child = subprocess.Popen(
                [sys.executable, "-X", "utf8", "-u", "-m", "virnucpro_backend.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**worker_environment(os.environ), **self._environment},
                start_new_session=True,
            )
        except OSError as error:
            started.set()
            self._say(("exit", (None, None, [f"The worker could not be started: {error}"])))
            return
        self._child = child
        started.set()
        readers = [
            threading.Thread(target=self._read_lines, args=(child.stdout,), daemon=True),
            threading.Thread(target=self._read_log, args=(child.stderr, last_lines), daemon=True),
        ]
        for reader in readers:
            reader.start()
        child.wait()
        for reader in readers:
            reader.join(PIPES_AFTER_EXIT_SECONDS)
        _kill_group(child)
        self._child = None
        code = child.returncode
        ended = (code, None) if code >= 0 else (None, _signal_name(-code))
        self._say(("exit", (*ended, list(last_lines))))

    def _read_lines(self, pipe: IO[bytes]) -> None:
        # A line that doesn't end comes in pieces, of which the pool refuses the first.
        while line := pipe.readline(LONGEST_LINE):
            self._say(("line", line.rstrip(b"\r\n")))

    def _read_log(self, pipe: IO[bytes], last_lines: deque[str]) -> None:
        while line := pipe.readline(LONGEST_LOG_LINE):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            last_lines.append(text)
            self._say(("log", text))

    def _say(self, said: Said) -> None:
        with self._changed:
            if said[0] == "log":
                if self._log_lines >= MOST_LOG_LINES:
                    return
                self._log_lines += 1
            if said[0] == "line":
                self._changed.wait_for(lambda: len(self._kept) < MOST_KEPT)
            self._kept.append(said)
            self._changed.notify_all()

    def _forget(self, have: int) -> None:
        while self._kept and self._first < have:
            self._log_lines -= self._kept.popleft()[0] == "log"
            self._first += 1
        self._changed.notify_all()


class NodeHelper:
    """One actor on each node: what the node is and does, and the models that it has."""

    def __init__(self) -> None:
        self._models: ModelCache | None = None
        self._sampler: tuple[list[str], DeviceSampler] | None = None

    def facts(self) -> dict[str, Any]:
        """`host`, `python`, and `missing`: names of the packages that a worker needs and this node lacks."""
        missing = [name for name in NEEDED_PACKAGES if importlib.util.find_spec(name) is None]
        return {"host": socket.gethostname(), "python": platform.python_version(), "missing": missing}

    def sees(self, folder: str, word: str) -> bool:
        """Whether this node reads and writes the same folder as the pool, which wrote `word` into it."""
        own = Path(folder) / f"node-{os.getpid()}-{socket.gethostname()}"
        try:
            if (Path(folder) / "pool").read_text(encoding="utf-8") != word:
                return False
            own.write_text(word, encoding="utf-8")
            own.unlink()
        except OSError:
            return False
        return True

    def figures(self, uuids: list[str]) -> dict[str, Any]:
        """The fields of one `sample` of `devices.monitor`, for these GPUs."""
        from virnucpro_backend.devices.monitor import DeviceSampler

        if self._sampler is None or self._sampler[0] != uuids:
            self._sampler = (uuids, DeviceSampler(uuids))
        return self._sampler[1].sample()

    def find_model(self, wanted: str, folders: list[str]) -> str | None:
        """See ModelCache.find."""
        return self._cache().find(wanted, folders)

    def begin_model(self, wanted: str, size: int) -> str:
        """See ModelCache.begin. Raises OSError."""
        return self._cache().begin(wanted, size)

    def write_model(self, wanted: str, name: str, offset: int, piece: bytes) -> None:
        """See ModelCache.write. Raises OSError."""
        self._cache().write(wanted, name, offset, piece)

    def finish_model(self, wanted: str, description: dict[str, Any]) -> dict[str, str]:
        """See ModelCache.finish: `folder`, or the fields of a WeightsError. Raises OSError."""
        from virnucpro_backend.weights.errors import WeightsError

        try:
            return {"folder": self._cache().finish(wanted, description)}
        except WeightsError as error:
            return error.as_json()

    def abandon_model(self, wanted: str) -> None:
        """See ModelCache.abandon."""
        self._cache().abandon(wanted)

    def _cache(self) -> ModelCache:
        from virnucpro_backend.cluster.ray.models import ModelCache

        self._models = self._models or ModelCache()
        return self._models


def gpu_problem(visible: list[dict[str, Any]], no_gpu_reason: str | None) -> str | None:
    """Why a GPU that Ray has lent can't be computed on; None where it can. `visible`: the probe's, of what
    Ray lets this process see.
    """
    if len(visible) != 1:
        return (
            f"Ray has lent one GPU there, and the driver shows {len(visible)}."
            + (f" {no_gpu_reason}" if no_gpu_reason else "")
            + ' Start Ray on that node with the right "--num-gpus".'
        )
    if visible[0]["blocked_by"] == "pytorch":
        return f"The PyTorch on that node was built for other GPUs than its {visible[0]['name']}."
    if visible[0]["blocked_by"] is not None:
        return f"The account that runs Ray on that node may not use its {visible[0]['name']}."
    return None


def gpu_environment(gpu: Mapping[str, Any]) -> dict[str, str]:
    """Variables that leave a worker this GPU alone, as the engine sets them for its own workers."""
    if gpu["vendor"] == "nvidia":
        return {"CUDA_VISIBLE_DEVICES": gpu["uuid"], "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return {
        "ROCR_VISIBLE_DEVICES": gpu["uuid"] if gpu["uuid"].startswith("GPU-") else str(gpu["index"]),
        "HIP_VISIBLE_DEVICES": "0",
        "CUDA_VISIBLE_DEVICES": "",
    }


def cpu_environment() -> dict[str, str]:
    """Variables of a worker on a processor: one thread, so that sums don't depend on the number of cores."""
    return {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def worker_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The actor's environment for its worker: with this package, and without what is Ray's, its token too."""
    # Ray allows its actors one thread; a worker on a GPU has as many as one that the engine starts.
    kept = {
        name: value
        for name, value in inherited.items()
        if not name.startswith("RAY_") and name != "OMP_NUM_THREADS"
    }
    source = str(Path(__file__).parents[3])
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join([source, *filter(None, [inherited.get("PYTHONPATH")])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _is_split(gpu: Mapping[str, Any]) -> bool:
    """Whether it is a GPU in MIG mode, of which only slices can be used."""
    return bool(gpu.get("mig_enabled")) and gpu["parent_uuid"] is None


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """The worker leads a group of its own, which outlives it where it has left children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        return


def _kill_if_running(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        _kill_group(child)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
