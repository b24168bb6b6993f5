"""One device of a Ray cluster with everything real but Ray: its calls can be lost, as on a bad network."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import types
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from made_parts import DEMO_MODEL, random_frames, write_part_file

from virnucpro_backend.cluster.events import PoolEvents
from virnucpro_backend.cluster.ray import device as ray_device
from virnucpro_backend.cluster.ray.device import RayDevice
from virnucpro_backend.cluster.ray.node import WorkerHost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters have Linux nodes")

PATIENCE = 60.0


class RayError(Exception):
    pass


class RayActorError(RayError):
    pass


class ActorUnavailableError(RayActorError):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Actor:
    """An actor's handle. Every third answer is lost on its way, after the call was carried out."""

    def __init__(self, host: WorkerHost, lossy: bool) -> None:
        self._host, self._lossy = host, lossy
        self._calls = 0
        self._threads = ThreadPoolExecutor(8)
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        return types.SimpleNamespace(remote=lambda *arguments: self._call(name, arguments))

    async def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if self.dead:
            raise RayActorError("The actor died.")
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: getattr(self._host, name)(*arguments)
        )
        try:
            answer = await work
        except Exception as error:
            raise RayTaskError(error) from error
        self._calls += 1
        if self.dead:
            raise RayActorError("The actor died.")
        if self._lossy and name != "device" and self._calls % 3 == 0:
            raise ActorUnavailableError(name)
        return answer


class MadeUpNode:
    """What a device needs of its node, without a cluster."""

    def __init__(self, events: PoolEvents, shared_storage: bool, lossy: bool) -> None:
        self.name, self.events, self.shared_storage = "node1", events, shared_storage
        self.gone: str | None = None
        self.actors: list[Actor] = []
        self.ray = types.SimpleNamespace(
            put=lambda value: value,
            kill=lambda actor: setattr(actor, "dead", True),
            exceptions=types.SimpleNamespace(
                RayError=RayError,
                RayActorError=RayActorError,
                RayTaskError=RayTaskError,
                ActorUnavailableError=ActorUnavailableError,
            ),
        )
        self._lossy = lossy

    def host(self, kind: Literal["gpu", "cpu"]) -> Actor:
        self.actors.append(Actor(WorkerHost(kind), self._lossy))
        return self.actors[-1]

    def device_id(self, uuid: str | None) -> str | None:
        return "node1:cpu-0"

    async def model(self, folder: Path) -> str:
        return str(folder)


class HeardChannel:
    """In place of the engine."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def emit(self, type: str, **fields: Any) -> None:
        self.seen.append(json.loads(json.dumps({"type": type, **fields})))

    def lines(self, kind: str) -> list[dict[str, Any]]:
        events = [event["event"] for event in self.seen if event["type"] == "worker_line"]
        return [event for event in events if event["type"] == kind]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.seen if event["type"] == kind]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(ray_device, "AGAIN_SECONDS", (0.1, 0.1))
    monkeypatch.setattr(ray_device, "PIECE_BYTES", 2_000)
    monkeypatch.setattr(ray_device, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr("virnucpro_backend.cluster.ray.files.PIECE_BYTES", 700)


async def until(accept: Callable[[], object]) -> None:
    async def look() -> None:
        while not accept():
            await asyncio.sleep(0.02)

    await asyncio.wait_for(look(), PATIENCE)


def on_a_device(
    work: Callable[[RayDevice, MadeUpNode, HeardChannel], Awaitable[None]],
    shared_storage: bool = False,
    lossy: bool = False,
) -> HeardChannel:
    channel = HeardChannel()

    async def run() -> None:
        events = PoolEvents(channel)  # type: ignore[arg-type]
        node = MadeUpNode(events, shared_storage, lossy)
        device = RayDevice(node, "cpu")
        living = asyncio.ensure_future(device.live())
        try:
            await until(lambda: device.id is not None)
            await work(device, node, channel)
        finally:
            living.cancel()
            for actor in node.actors:
                actor._host.close()

    asyncio.run(run())
    return channel


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


def test_a_part_goes_there_and_back_though_answers_are_lost(tmp_path: Path) -> None:
    part = write_part_file(tmp_path / "parts" / "000001.safetensors", random_frames(20, seed=1))
    scores, embeddings = (tmp_path / "run" / kind / "000001.safetensors" for kind in ("scores", "embeddings"))
    command = {
        "type": "part",
        "part": "000001",
        "part_path": str(part.path),
        "part_sha256": part.sha256,
        "frame_begin": 0,
        "frame_end": 20,
        "scores_path": str(scores),
        "embeddings_path": str(embeddings),
    }

    async def work(device: RayDevice, node: MadeUpNode, channel: HeardChannel) -> None:
        node.events.worker_started("node1:cpu-0")
        device.start()
        device.command(LOAD)
        device.command(command)
        device.command({**command, "part": "000002", "part_path": "/nowhere"})
        await until(lambda: channel.lines("part_done") and channel.lines("part_failed"))
        device.end(5.0)
        await until(lambda: channel.of("worker_exit"))

    channel = on_a_device(work, lossy=True)
    [done] = channel.lines("part_done")
    assert done["scores_path"] == str(scores)
    assert done["scores_sha256"] == hashlib.sha256(scores.read_bytes()).hexdigest()
    assert done["embeddings_sha256"] == hashlib.sha256(embeddings.read_bytes()).hexdigest()
    [failed] = channel.lines("part_failed")
    assert (failed["part"], failed["code"]) == ("000002", "part_unreadable")
    assert [len(channel.lines(kind)) for kind in ("hello", "ready", "bye")] == [1, 1, 1]
    [ended] = channel.of("worker_exit")
    assert (ended["exit_code"], ended["signal"]) == (0, None)
    kinds = [event["type"] for event in channel.seen]
    assert kinds.index("worker_exit") > kinds.index("device_joined")
    assert not [path for path in (tmp_path / "run").rglob("*") if path.suffix == ".tmp"]
    assert not list((tmp_path / "scratch").rglob("*"))[1:]


def test_a_lost_actor_is_a_device_that_leaves_and_joins_again() -> None:
    async def work(device: RayDevice, node: MadeUpNode, channel: HeardChannel) -> None:
        node.events.worker_started("node1:cpu-0")
        device.start()
        await until(lambda: channel.lines("hello"))
        node.actors[0].dead = True
        await until(lambda: len(channel.of("device_joined")) == 2)

    channel = on_a_device(work, shared_storage=True)
    kinds = [event["type"] for event in channel.seen if event["type"] not in ("worker_line", "log")]
    assert kinds[:4] == ["device_joined", "worker_exit", "device_left", "device_joined"]
    assert "node1" in channel.of("device_left")[0]["reason"]


def test_what_is_no_line_of_a_worker_ends_it() -> None:
    async def work(device: RayDevice, node: MadeUpNode, channel: HeardChannel) -> None:
        node.events.worker_started("node1:cpu-0")
        device.start()
        await until(lambda: channel.lines("hello"))
        node.actors[0]._host._say(("line", b"garbage"))
        await until(lambda: channel.of("worker_exit"))

    channel = on_a_device(work, shared_storage=True)
    assert channel.of("worker_exit")[0]["signal"] == "SIGKILL"
