"""A real Ray cluster on this computer, real parts and the real worker on processors.

Runs where Ray is installed and VIRNUCPRO_LONG_TESTS is 1; see docs/scale-out.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from made_parts import DEMO_MODEL, PartFile, random_frames, write_part_file
from ray_nodes import RayCluster
from running_pool import RunningPool
from running_worker import RunningWorker

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
        self.joined: list[str] = []
        self.left: dict[str, str] = {}
        self.pids: dict[str, int] = {}

    def work(self, until: Any, patience: float = 240.0) -> None:
        deadline = time.monotonic() + patience
        while not until(self):
            event = self.pool.next_event(max(0.0, deadline - time.monotonic()))
            # Shown where the test fails.
            print(f"{time.monotonic():.1f}", str(event)[:300])
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        device = event.get("device")
        if event["type"] == "pool_failed":
            raise AssertionError(event)
        if event["type"] == "device_joined":
            self.joined.append(event["device"])
            self.held[event["device"]] = []
            self.pool.send(type="start_worker", device=device)
        elif event["type"] == "device_left":
            self.open += self.held.pop(event["device"])
            self.left[event["device"]] = event["reason"]
        elif event["type"] == "worker_line":
            self._take_line(event["device"], event["event"])

    def _take_line(self, device: str, line: dict[str, Any]) -> None:
        if line["type"] == "hello":
            self.pids[device] = line["pid"]
            self.pool.send(type="worker_command", device=device, command=LOAD)
        elif line["type"] in ("load_failed", "part_failed"):
            raise AssertionError(line)
        elif line["type"] == "part_done":
            part = line["part"]
            self.held[device].remove(part)
            assert line["scores_path"] == part_command(self.parts[part], part, self.run)["scores_path"]
            assert Path(line["scores_path"]).is_file()
            self.done[part] = device
        if line["type"] in ("ready", "part_done"):
            while self.open and len(self.held[device]) < 2:
                part = self.open.pop(0)
                self.held[device].append(part)
                command = part_command(self.parts[part], part, self.run)
                self.pool.send(type="worker_command", device=device, command=command)


@pytest.mark.parametrize("shared_storage", [True, False], ids=["shared storage", "object store"])
def test_nodes_come_and_go_during_a_run(tmp_path: Path, shared_storage: bool) -> None:
    parts = make_parts(tmp_path / "parts", 24)
    expected = locally(parts, tmp_path / "local")
    run = tmp_path / "run"
    with RayCluster() as cluster, RunningPool(environment=cluster.environment) as pool:
        cluster.add("one")
        cluster.add("two")
        engine = Engine(pool, parts, run)
        open_pool(pool, cluster, run, shared_storage)
        ready = pool.wait_for("pool_ready")
        assert ready["version"].startswith("Ray 2.")
        engine.work(lambda e: len(e.joined) == 2 and len(e.done) >= 2)
        lost = engine.done[next(iter(engine.done))]
        cluster.kill_node_of(engine.pids[lost])
        cluster.add("three")
        engine.work(lambda e: len(e.left) == 1 and len(e.joined) == 3 and len(e.done) == len(parts))
        assert set(engine.left) == {lost}
        assert "gone" in engine.left[lost]
        assert pool.seen[0]["type"] == "hello"
        assert [event for event in pool.seen if event["type"] == "device_sample"]
        cluster.wait_until_dead(engine.pids[lost])
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
        assert pool.seen[-1]["type"] == "bye"
        cluster.wait_until_gone("virnucpro_backend.worker")
    assert results(run) == expected


def test_a_killed_driver_leaves_nothing_on_the_nodes(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "parts", 4)
    with RayCluster() as cluster, RunningPool(environment=cluster.environment) as pool:
        cluster.add("one")
        engine = Engine(pool, parts, tmp_path / "run")
        open_pool(pool, cluster, tmp_path / "run", shared_storage=False)
        engine.work(lambda e: len(e.done) >= 1)
        assert cluster.processes("virnucpro_backend.worker")
        pool.process.send_signal(signal.SIGKILL)
        cluster.wait_until_gone("virnucpro_backend.worker")
        cluster.wait_until_gone("ray::WorkerHost")
