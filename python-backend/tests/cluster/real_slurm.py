"""Real parts by the real worker through a real SLURM: run by `electron/cli/slurmCluster.long.test.ts`.

The nodes are daemons on this computer and the devices its processor. The batch script is the window's, with
four minutes of time; its path is in SLURM_TEST_SCRIPT.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_parts import DEMO_MODEL, PartFile, random_frames, write_part_file
from private_slurm import PrivateSlurm, install, missing
from running_pool import Event, RunningPool

install()
pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")
PATIENCE = 400.0
TASKS = 3
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
}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateSlurm]:
    with PrivateSlurm(tmp_path_factory.mktemp("slurm"), nodes=TASKS) as started:
        yield started


class Engine:
    """Gives parts to workers, one at a time, as the engine does."""

    def __init__(self, pool: RunningPool, parts: dict[str, PartFile], scores: Path) -> None:
        self.pool = pool
        self.parts = parts
        self.scores = scores

    def joined(self, count: int) -> list[Event]:
        return [self.pool.wait_for("device_joined", patience=PATIENCE) for _ in range(count)]

    def load(self, device: str) -> None:
        self.pool.send(type="start_worker", device=device)
        self.wait_line(device, "hello")
        self.pool.send(type="worker_command", device=device, command=LOAD)
        self.wait_line(device, "ready")

    def give(self, device: str, key: str) -> None:
        part = self.parts[key]
        command = {
            "type": "part",
            "part": key,
            "part_path": str(part.path),
            "part_sha256": part.sha256,
            "frame_begin": 0,
            "frame_end": part.frames.count,
            "scores_path": str(self.scores / f"{key}.safetensors"),
            "embeddings_path": None,
        }
        self.pool.send(type="worker_command", device=device, command=command)

    def done(self, device: str, key: str) -> None:
        event = self.wait_line(device, "part_done")
        assert event["event"]["part"] == key

    def wait_line(self, device: str, kind: str) -> Event:
        def accept(event: Event) -> bool:
            return bool(event["device"] == device and event["event"]["type"] == kind)

        return self.pool.wait_for("worker_line", accept, PATIENCE)

    def left(self, device: str) -> str:
        event = self.pool.wait_for("device_left", lambda event: event["device"] == device, PATIENCE)
        return str(event["reason"])


def tasks_pid(job: str, task: int, module: str) -> int:
    """The process of a task that runs a module."""
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        wanted = {f"SLURM_ARRAY_JOB_ID={job}".encode(), f"SLURM_ARRAY_TASK_ID={task}".encode()}
        if wanted <= set(environment) and module.encode() in command and b"-m" in command:
            return int(entry.name)
    raise AssertionError(f"task {task} runs no {module}")


def wait_until(there: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def local_scores(parts: dict[str, PartFile], folder: Path) -> dict[str, bytes]:
    from running_worker import RunningWorker

    environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    os.environ.update(environment)
    with RunningWorker() as worker:
        worker.load()
        for key, part in parts.items():
            worker.part(key, part, folder)
            worker.wait_for("part_done")
    return {key: (folder / "scores" / f"{key}.safetensors").read_bytes() for key in parts}


def test_scores_are_those_of_a_local_worker_whatever_befalls_the_tasks(
    slurm: PrivateSlurm, tmp_path: Path
) -> None:
    script = Path(os.environ["SLURM_TEST_SCRIPT"]).read_text(encoding="utf-8")
    keys = [f"{number:06d}" for number in range(9)]
    run = tmp_path / "a run β"
    scores = run / "work" / "scores"
    parts = {
        key: write_part_file(run / "work" / "parts" / f"{key}.safetensors", random_frames(40, seed=number))
        for number, key in enumerate(keys)
    }
    choice = {"kind": "slurm", "script": script, "tasks": TASKS, "login": None, "on_processors": True}
    folder = run / "work" / "pool"
    opening: dict[str, Any] = {
        "type": "open_pool",
        "pool": choice,
        "run_folder": str(run),
        "pool_folder": str(folder),
    }
    quick = "import virnucpro_backend.cluster.slurm.pool as s\ns.QUEUE_SECONDS = 2\n"

    with RunningPool(quick, slurm.environment) as pool:
        engine = Engine(pool, parts, scores)
        pool.send(**opening)
        job = pool.wait_for("pool_ready", patience=PATIENCE)["job"]
        devices = sorted(event["device"] for event in engine.joined(TASKS))
        assert [device.partition("/")[0] for device in devices] == slurm.nodes
        number = {device: int(device.rpartition("_")[2]) for device in devices}
        for device in devices:
            engine.load(device)
        for device, key in zip(devices, keys, strict=False):
            engine.give(device, key)
        for device, key in zip(devices, keys, strict=False):
            engine.done(device, key)

        # One task is cancelled with a part in its hands.
        engine.give(devices[0], keys[3])
        slurm.run("scancel", f"{job}_{number[devices[0]]}")
        assert "scheduler ended the task" in engine.left(devices[0]) or "CANCELLED" in engine.left(devices[0])

        # A node is drained: its task goes on. The process of another task is killed.
        slurm.run("scontrol", "update", f"nodename={slurm.nodes[2]}", "state=drain", "reason=test")
        engine.give(devices[1], keys[4])
        os.kill(tasks_pid(job, number[devices[1]], "virnucpro_backend.cluster.node_task"), signal.SIGKILL)
        assert "FAILED" in engine.left(devices[1])
        for key in (keys[3], keys[4]):
            engine.give(devices[2], key)
            engine.done(devices[2], key)
        # Its worker alone is killed, and started again.
        engine.give(devices[2], keys[5])
        os.kill(tasks_pid(job, number[devices[2]], "virnucpro_backend.worker"), signal.SIGKILL)
        ended = pool.wait_for("worker_exit", lambda event: event["device"] == devices[2], PATIENCE)
        assert ended["signal"] == "SIGKILL"
        # Killed with it: the pool itself.
        os.kill(pool.process.pid, signal.SIGKILL)

    with RunningPool(quick, slurm.environment) as pool:
        engine = Engine(pool, parts, scores)
        pool.send(**opening)
        assert pool.wait_for("pool_ready", patience=PATIENCE)["job"] == job
        (last,) = engine.joined(1)
        assert last["device"] == devices[2]
        engine.load(last["device"])
        engine.give(last["device"], keys[5])
        engine.done(last["device"], keys[5])

        # Its time ends: it asks to be queued again, and comes back on a node that is not drained.
        assert "queued again" in engine.left(last["device"])
        waiting = pool.wait_for("pool_waiting", lambda event: event["waiting"] == 1, PATIENCE)
        (again,) = engine.joined(1)
        # It alone: the two that have failed and been cancelled stay where they are.
        assert len(slurm.run("squeue", "-h", "-r", f"--jobs={job}").splitlines()) == 1
        assert again["node"] in slurm.nodes[:2]
        assert waiting["reason"]
        engine.load(again["device"])
        for key in keys[6:]:
            engine.give(again["device"], key)
            engine.done(again["device"], key)
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    wait_until(lambda: slurm.run("squeue", "-h").strip() == "", "tasks are left in the queue")

    local = local_scores(parts, tmp_path / "local")
    assert {key: (scores / f"{key}.safetensors").read_bytes() for key in keys} == local
    print("\n".join(path.read_text(errors="replace")[-600:] for path in sorted(folder.glob("*.log"))))
