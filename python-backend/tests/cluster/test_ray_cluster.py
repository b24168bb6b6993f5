"""A real Ray cluster on this computer, real parts and the real worker on processors.

Runs where Ray is installed and VIRNUCPRO_LONG_TESTS is 1; see docs/scale-out.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from made_parts import DEMO_MODEL, PartFile, random_frames, write_part_file
from ray_nodes import RayCluster
from running_pool import RunningPool
from running_worker import RunningWorker

from virnucpro_backend.weights.folder_lock import take_lock

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed here"),
    pytest.mark.skipif(os.environ.get("VIRNUCPRO_LONG_TESTS") != "1", reason="minutes: a long test"),
]

LOAD = {
    "type": "load",
    "device": "cpu",
    "model_folder": str(DEMO_MODEL),
    "precision": "fp32",
    "tokens_per_batch": 2048,
    "embed_equal_sequences_once": True,
    "embeddings": "fp16",
    "memory_fraction": None,
    "most_tokens_per_batch": None,
    "placement": "auto",
    "memory_profile": None,
    "imported_embeddings": None,
}


def open_pool(pool: RunningPool, cluster: RayCluster, run: Path, shared_storage: bool, cpus: int = 1) -> None:
    pool.send(
        type="open_pool",
        pool={
            "kind": "ray",
            "address": cluster.address,
            "shared_storage": shared_storage,
            "cpu_workers_per_node": cpus,
        },
        run_folder=str(run),
        pool_folder=str(run / "work" / "pool"),
    )


def part_command(file: PartFile, key: str, run: Path) -> dict[str, Any]:
    return {
        "type": "part",
        "part": key,
        "part_path": str(file.path),
        "part_sha256": file.sha256,
        "frame_begin": 0,
        "frame_end": file.frames.count,
        "scores_path": str(run / "work" / "scores" / f"{key}.safetensors"),
        "embeddings_path": str(run / "work" / "embeddings" / f"{key}.safetensors"),
    }


def make_parts(folder: Path, count: int) -> dict[str, PartFile]:
    return {
        f"{i:06}": write_part_file(folder / f"{i:06}.safetensors", random_frames(80, seed=i))
        for i in range(count)
    }


def results(run: Path) -> dict[str, str]:
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for kind in ("scores", "embeddings")
        for path in sorted((run / "work" / kind).iterdir())
    }


def locally(parts: dict[str, PartFile], run: Path) -> dict[str, str]:
    with RunningWorker() as worker:
        worker.load(embeddings="fp16")
        for key, file in parts.items():
            worker.send(**part_command(file, key, run))
        for _ in parts:
            worker.wait_for("part_done")
    return results(run)


class Engine:
    """What the engine does with a pool, as far as it matters here: each device that joins gets a worker, and
    parts while there are some; what a device had that is lost is given to others."""

    def __init__(self, pool: RunningPool, parts: dict[str, PartFile], run: Path) -> None:
        self.pool, self.parts, self.run = pool, parts, run
        self.open = list(parts)
        self.done: dict[str, str] = {}
        """The device of each finished part."""
        self.held: dict[str, list[str]] = {}
        """Parts of each device whose worker is ready."""
        self.left: dict[str, str] = {}
        self.workers: dict[str, psutil.Process] = {}

    def work(self, until: Callable[[], bool], patience: float = 240.0) -> None:
        deadline = time.monotonic() + patience
        while not until():
            event = self.pool.next_event(max(0.0, deadline - time.monotonic()))
            # Shown where the test fails.
            print(f"{time.monotonic():.1f}", str(event)[:300])
            self._take(event)
            self.give()

    def give(self) -> None:
        for device, held in self.held.items():
            while self.open and len(held) < 2:
                part = self.open.pop(0)
                held.append(part)
                command = part_command(self.parts[part], part, self.run)
                self.pool.send(type="worker_command", device=device, command=command)

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "pool_failed":
            raise AssertionError(event)
        if event["type"] == "device_joined":
            self.pool.send(type="start_worker", device=event["device"])
        elif event["type"] == "device_left":
            self.open += self.held.pop(event["device"], [])
            self.left[event["device"]] = event["reason"]
        elif event["type"] == "worker_line":
            self._take_line(event["device"], event["event"])

    def _take_line(self, device: str, line: dict[str, Any]) -> None:
        if line["type"] == "hello":
            self.workers[device] = psutil.Process(line["pid"])
            self.pool.send(type="worker_command", device=device, command=LOAD)
        elif line["type"] in ("load_failed", "part_failed"):
            raise AssertionError(line)
        elif line["type"] == "ready":
            self.held[device] = []
        elif line["type"] == "part_done":
            part = line["part"]
            self.held[device].remove(part)
            assert line["scores_path"] == part_command(self.parts[part], part, self.run)["scores_path"]
            assert Path(line["scores_path"]).is_file()
            self.done[part] = device


def scratch_in_use(cluster: RayCluster) -> list[Path]:
    """The folders of workers that are alive: their locks are held."""
    held = []
    for lock in cluster.folder.glob("virnucpro-ray-*/*.lock"):
        with open(lock) as file:
            try:
                take_lock(file.fileno())
            except OSError:
                held.append(lock.with_suffix(""))
    return held


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """A head and two nodes. A test that kills a node adds another."""
    with RayCluster() as started:
        started.add("one")
        started.add("two")
        yield started


@pytest.mark.parametrize(
    ("shared_storage", "added"), [(True, "three"), (False, "four")], ids=["shared storage", "object store"]
)
def test_a_node_dies_and_another_comes_during_a_run(
    cluster: RayCluster, tmp_path: Path, shared_storage: bool, added: str
) -> None:
    parts = make_parts(tmp_path / "parts", 12)
    expected = locally(parts, tmp_path / "local")
    run = tmp_path / "run"
    with RunningPool(environment=cluster.environment) as pool, cluster.logs_if_it_fails(pool):
        engine = Engine(pool, parts, run)
        open_pool(pool, cluster, run, shared_storage)
        assert pool.wait_for("pool_ready")["version"].startswith("Ray 2.")
        engine.work(lambda: len(set(engine.done.values())) == 2)
        lost = list(engine.done.values())[-1]
        [other] = set(engine.held) - {lost}
        rest, engine.open = engine.open, []
        # It has just been given another part, and finishes none any more.
        engine.workers[lost].suspend()
        engine.work(lambda: engine.held[other] == [])
        unfinished = list(engine.held[lost])
        assert unfinished
        cluster.kill_node_of(engine.workers[lost])
        cluster.add(added)
        engine.work(lambda: lost in engine.left and f"{added}:cpu-0" in engine.held)
        engine.open += rest
        engine.give()
        engine.work(lambda: len(engine.done) == len(parts))
        assert "gone" in engine.left[lost]
        assert list(engine.left) == [lost]
        assert {engine.done[part] for part in unfinished} <= {other, f"{added}:cpu-0"}
        assert set(engine.done.values()) == {lost, other, f"{added}:cpu-0"}
        assert pool.seen[0]["type"] == "hello"
        assert [event for event in pool.seen if event["type"] == "device_sample"]
        cluster.wait_until_dead(engine.workers[lost])
        scratch = scratch_in_use(cluster)
        assert len(scratch) == 2
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
        assert pool.seen[-1]["type"] == "bye"
        cluster.wait_until_dead(*engine.workers.values())
        assert not [folder for folder in scratch if folder.exists()]
    assert results(run) == expected


def test_a_killed_driver_leaves_nothing_on_the_nodes(cluster: RayCluster, tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "parts", 40)
    with RunningPool(environment=cluster.environment) as pool, cluster.logs_if_it_fails(pool):
        engine = Engine(pool, parts, tmp_path / "run")
        open_pool(pool, cluster, tmp_path / "run", shared_storage=False)
        engine.work(lambda: len(engine.held) == 2 and len(engine.done) >= 1)
        workers = list(engine.workers.values())
        actors = [worker.parent() for worker in workers]
        assert all(actor.is_running() for actor in actors)
        pool.process.send_signal(signal.SIGKILL)
        cluster.wait_until_dead(*workers, *actors)
