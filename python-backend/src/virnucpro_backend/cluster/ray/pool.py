"""Devices lent by a Ray cluster. Runs as one of the cluster's drivers, in the frame of `pool`.

What is started where:

- For each GPU of each node, and on nodes without GPUs for as many processors as asked for, an actor is
  created that Ray places on that node and gives one GPU (or one core): a `WorkerHost`. It is lent as soon
  as Ray has one free, and the device joins. The actor starts the ordinary worker as its child, with exactly
  that GPU, and keeps its lines, numbered, until the pool has fetched them: a connection that breaks for a
  moment loses none. It never restarts by itself (`max_restarts=0`): the engine decides whether a worker is
  started again.
- On each node there is one `NodeHelper`, for what all devices of a node have in common: figures, and
  weights.

All of it ends with the driver: Ray ends the actors of a driver that is gone, and each worker ends with its
actor, because the system kills it when the thread that started it ends, and because its standard input
closes. The actors are not detached, so nothing of a run is left on a cluster.

Each device and each node has tasks of its own on one event loop, and no task waits for another node. A node
that doesn't answer is given up after some seconds; Ray's own list of nodes, looked at every second, says
which came and which are gone.

Without storage that the nodes share, parts, scores and embeddings go in pieces through Ray's object store,
and the paths in commands and events are the node's on the way there and the run's on the way back. Weights
that a node lacks are sent to it once; see `models.py`. The pieces of weights are put into the object store
once for all nodes that are as far, and Ray copies them from node to node.

Nothing here listens. The token of the cluster is shown by Ray itself, from Ray's own place for it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import ipaddress
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Literal, TypeVar

from virnucpro_backend.cluster.commands import RayChoice, WorkerCommandFields
from virnucpro_backend.cluster.events import DeviceFigures, PoolEvents, PoolFailedError
from virnucpro_backend.cluster.pool import EndOfPool, Pool
from virnucpro_backend.cluster.ray.connection import Connection, connect
from virnucpro_backend.cluster.ray.device import RayDevice, in_one_line
from virnucpro_backend.cluster.ray.files import MODEL_PIECE_BYTES
from virnucpro_backend.cluster.ray.models import ModelAt, local_names, read_model, with_files
from virnucpro_backend.cluster.ray.node import NodeHelper, WorkerHost
from virnucpro_backend.weights.errors import WeightsError

T = TypeVar("T")

LOOK_SECONDS = 1.5
"""Between two looks at which nodes there are."""

LOST_SECONDS = 60.0
"""Without an answer from the cluster's head, after which it is taken to be gone."""

HELPER_SECONDS = 180.0
"""For a node's first actor: the node unpacks this package and starts a Python."""

FIGURES_SECONDS = 2.0
BUSY_SECONDS = 2.0
"""Before it is asked again whether another run has finished sending the same weights."""

WAITING_SECONDS = 20.0
"""A device that Ray lends at once is not waited for; its actor takes some seconds to start."""

CLOSE_SECONDS = 5.0
SHUTDOWN_SECONDS = 10.0
PIECES_KEPT = 4
CALLS_AT_ONCE = 8
"""Of one actor: a call that waits for lines must not hold up the others."""

log = logging.getLogger(__name__)


def new_pool(choice: RayChoice, events: PoolEvents, end: EndOfPool) -> Pool:
    """The pool for a choice; nothing is asked of the cluster yet."""
    return RayPool(choice, events, end)


class RayPool(Pool):
    """See the module."""

    def __init__(self, choice: RayChoice, events: PoolEvents, end: EndOfPool) -> None:
        super().__init__(events, end)
        self.choice = choice
        self.pieces = SharedPieces(self)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ray", daemon=True)
        self._connection: Connection | None = None
        self._nodes: dict[str, RayNode] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pool_folder = Path()
        self._word = uuid.uuid4().hex
        self._waited = False

    @property
    def ray(self) -> Any:
        """The package, once there is a connection."""
        assert self._connection is not None
        return self._connection.ray

    @property
    def storage_check(self) -> tuple[str, str]:
        """The pool's folder, and the word that it holds for nodes that read the same one."""
        return str(self._pool_folder), self._word

    def open(self, run_folder: Path, pool_folder: Path) -> None:
        """See Pool."""
        self._pool_folder = pool_folder
        if self.choice.shared_storage:
            pool_folder.mkdir(parents=True, exist_ok=True)
            (pool_folder / "pool").write_text(self._word, encoding="utf-8")
        self._thread.start()
        # Not in the main thread, whose signals Ray would take over.
        self._connection = self._on_loop(self._connect()).result()
        self.events.ready(self._connection.version, self._connection.job)
        self._loop.call_soon_threadsafe(self.spawn, self._watch())

    def start_worker(self, device: str) -> None:
        """See Pool."""
        self._tell(device, lambda there: there.start())

    def command_worker(self, device: str, command: WorkerCommandFields) -> None:
        """See Pool."""
        self._tell(device, lambda there: there.command(command))

    def end_worker(self, device: str, grace_seconds: float) -> None:
        """See Pool."""
        self._tell(device, lambda there: there.end(grace_seconds))

    def kill_worker(self, device: str) -> None:
        """See Pool."""
        self._tell(device, lambda there: there.kill())

    def close(self) -> None:
        """See Pool."""
        if self._connection is None:
            return
        try:
            self._on_loop(self._close()).result(CLOSE_SECONDS + SHUTDOWN_SECONDS)
        except concurrent.futures.TimeoutError:
            log.warning("the cluster did not answer while the pool was closed")

    def abandon(self) -> None:
        """See Pool. Ray ends the actors when this process is gone; they are asked to clean up before."""
        self.close()

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task whose failure ends the pool. On the event loop."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def device_id(self, node: str, gpu: str | None) -> str | None:
        """A name for a device that joins; None where that GPU is there already."""
        taken = set(self.events.devices)
        if gpu is not None:
            name = f"{node[:100]}:{gpu}"
            return None if name in taken else name
        number = next(n for n in range(len(taken) + 1) if f"{node[:100]}:cpu-{n}" not in taken)
        return f"{node[:100]}:cpu-{number}"

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _tell(self, device: str, order: Any) -> None:
        self._loop.call_soon_threadsafe(self._tell_now, device, order)

    def _tell_now(self, device: str, order: Any) -> None:
        for node in self._nodes.values():
            for there in node.devices:
                if there.id == device:
                    order(there)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        log.error("a task of the pool failed", exc_info=error)
        self.fail(
            error
            if isinstance(error, PoolFailedError)
            else PoolFailedError(
                "internal_error",
                f"The program that speaks with the Ray cluster failed: {type(error).__name__}: "
                f"{in_one_line(error)}",
                "Resume the run. If it happens again, report it with the run's logs.",
            )
        )

    async def _connect(self) -> Connection:
        return connect(self.choice.address, lambda words: self.events.log("warning", words))

    async def _watch(self) -> None:
        answered_at = time.monotonic()
        while True:
            try:
                listed = await asyncio.wait_for(asyncio.to_thread(self.ray.nodes), LOST_SECONDS / 3)
                answered_at = time.monotonic()
            except (self.ray.exceptions.RayError, asyncio.TimeoutError, OSError, RuntimeError) as error:
                log.warning("the cluster's head does not say which nodes there are: %s", error)
                if time.monotonic() - answered_at > LOST_SECONDS:
                    raise PoolFailedError(
                        "unreachable",
                        f"The Ray cluster at {self.choice.address} doesn't answer any more.",
                        "Resume the run when the cluster is there again: all finished parts are kept.",
                    ) from error
            else:
                self._look_at({entry["NodeID"]: entry for entry in listed})
            self._say_what_is_waited_for()
            await asyncio.sleep(LOOK_SECONDS)

    def _look_at(self, listed: dict[str, dict[str, Any]]) -> None:
        for number, entry in listed.items():
            if entry["Alive"] and number not in self._nodes:
                self._nodes[number] = RayNode(self, entry)
        for number, node in list(self._nodes.items()):
            entry = listed.get(number, {"Alive": False})
            if not entry["Alive"]:
                del self._nodes[number]
                node.leave(entry.get("DeathReasonMessage") or "")

    def _say_what_is_waited_for(self) -> None:
        nodes = list(self._nodes.values())
        now = time.monotonic()
        asked = [
            device.kind
            for node in nodes
            for device in node.devices
            if device.asked_at is not None and now - device.asked_at > WAITING_SECONDS
        ]
        reason = None if self.events.devices else self._why_nothing_is_there(nodes)
        if asked:
            what = "GPU" if "gpu" in asked else "processor core"
            words = f"one {what}" if len(asked) == 1 else f"{len(asked)} {what}s"
            self.events.waiting(
                len(asked),
                f"Ray has not lent {words} of the cluster yet: other work has them, or they start up.",
            )
        elif reason is not None:
            self.events.waiting(0, reason)
        elif self._waited:
            self.events.waiting(0, "")
        self._waited = self._waited or bool(asked) or reason is not None

    def _why_nothing_is_there(self, nodes: list[RayNode]) -> str | None:
        """None while that isn't known."""
        if any(node.devices or not node.is_settled for node in nodes):
            return None
        unfit = [node for node in nodes if node.problem is not None]
        if not unfit:
            return "The Ray cluster has no node with a GPU."
        if all(node.sees_no_run for node in unfit):
            raise PoolFailedError(
                "storage_not_shared",
                f"No node of the Ray cluster sees the run's folder. {unfit[0].problem}",
                "Put the run into a folder that all nodes see, or start it with the files sent to the nodes.",
            )
        return unfit[0].problem

    async def _close(self) -> None:
        # Before their tasks, with whose end Ray ends the actors: then nobody would clean up.
        closing = [
            asyncio.ensure_future(device.close())
            for node in self._nodes.values()
            for device in node.devices
            if device.id is not None
        ]
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_SECONDS)
        for task in [*closing, *self._tasks]:
            task.cancel()
        await asyncio.to_thread(self.ray.shutdown)


class RayNode:
    """A node of the cluster: its helper, and its devices."""

    def __init__(self, pool: RayPool, entry: dict[str, Any]) -> None:
        """`entry`: what Ray lists of it."""
        self.ray, self.events = pool.ray, pool.events
        self.shared_storage = pool.choice.shared_storage
        self.gone: str | None = None
        self.problem: str | None = None
        """Why its devices can't be used."""
        self.sees_no_run = False
        self.is_settled = False
        """Whether it is known which devices it has."""
        self.devices: list[RayDevice] = []
        self.name = str(entry.get("NodeName") or entry["NodeManagerAddress"])
        self._pool = pool
        self._entry = entry
        self._helper: Any = None
        self._models = asyncio.Lock()
        self._tasks = [pool.spawn(self._live())]

    def leave(self, words: str) -> None:
        """The node is gone: so are its devices."""
        self.gone = f"The node {self.name} is gone from the Ray cluster." + (
            f" Ray says: {in_one_line(words)}" if words else ""
        )
        for task in self._tasks:
            task.cancel()

    def host(self, kind: Literal["gpu", "cpu"]) -> Any:
        """See `device.Node`."""
        wanted = {"num_gpus": 1, "num_cpus": 0} if kind == "gpu" else {"num_gpus": 0, "num_cpus": 1}
        return self._actor(WorkerHost, wanted).remote(kind)

    def device_id(self, uuid: str | None) -> str | None:
        """See `device.Node`."""
        return self._pool.device_id(self.name, uuid)

    async def model(self, folder: Path) -> str:
        """See `device.Node`."""
        model = await asyncio.to_thread(read_model, folder)
        async with self._models:
            while True:
                found: str | None = await self._helper.find_model.remote(model.hash, [str(folder)])
                if found is not None:
                    return found
                answer: str = await self._helper.begin_model.remote(model.hash, model.size)
                if answer == "filling":
                    return await self._send(model)
                if answer not in ("ready", "busy"):
                    raise WeightsError("disk_full", f"On {self.name}: {answer}", "Free some space there.")
                await asyncio.sleep(BUSY_SECONDS)

    async def _send(self, model: ModelAt) -> str:
        files = local_names(model.files)
        started = time.monotonic()
        self.events.log("info", f"The weights are sent to {self.name}, {model.size / 1e9:.2f} GB.")
        try:
            for role, file in model.files.items():
                for offset in range(0, file.size, MODEL_PIECE_BYTES):
                    piece = await self._pool.pieces.get(model.folder / file.path, offset)
                    await self._helper.write_model.remote(model.hash, files[role].path, offset, piece)
            ended = await self._helper.finish_model.remote(model.hash, with_files(model.description, files))
        except self.ray.exceptions.RayTaskError as error:
            await self._helper.abandon_model.remote(model.hash)
            words = f"The weights could not be sent to {self.name}: {in_one_line(error.cause)}"
            raise WeightsError("model_missing", words, "Check that node's disk, then resume.") from error
        except OSError as error:
            await self._helper.abandon_model.remote(model.hash)
            raise WeightsError("model_missing", str(error), "Check the disk with the weights.") from error
        if "folder" not in ended:
            raise WeightsError("model_damaged", ended["message"], ended["next_step"])
        seconds = time.monotonic() - started
        self.events.log("info", f"{self.name} has the weights after {seconds:.0f} s.")
        return str(ended["folder"])

    async def _live(self) -> None:
        resources = self._entry.get("Resources", {})
        gpus = int(resources.get("GPU", 0))
        cpus = 0 if gpus else min(self._pool.choice.cpu_workers_per_node, int(resources.get("CPU", 0)))
        kind: Literal["gpu", "cpu"] = "gpu" if gpus else "cpu"
        if gpus + cpus > 0 and await self._can_be_used():
            self.devices = [RayDevice(self, kind) for _ in range(gpus + cpus)]
            self._tasks += [self._pool.spawn(device.live()) for device in self.devices]
            self._tasks.append(self._pool.spawn(self._sample()))
        self.is_settled = True

    async def _can_be_used(self) -> bool:
        """Start the helper, and look whether the node has what a worker needs."""
        self._helper = self._actor(NodeHelper, {"num_cpus": 0}).remote()
        try:
            facts = await asyncio.wait_for(self._facts(), HELPER_SECONDS)
            if _is_address(self.name):
                self.name = str(facts["host"])
            if facts["missing"]:
                self.problem = (
                    f"The Python of Ray on {self.name} lacks {', '.join(facts['missing'])}. Start Ray there "
                    "from VirNucPro's Python environment."
                )
            elif self.shared_storage and not await self._helper.sees.remote(*self._pool.storage_check):
                self.sees_no_run = True
                self.problem = (
                    f"{self.name} does not see the run's folder, {self._pool.storage_check[0]}. Choose a "
                    "folder that all nodes see, or let the files be sent to the nodes."
                )
        except (self.ray.exceptions.RayError, asyncio.TimeoutError) as error:
            self.problem = f"{self.name} can't run VirNucPro's program: {in_one_line(error) or 'no answer'}"
        if self.problem is not None:
            self.events.log("error", self.problem)
        return self.problem is None

    async def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = await self._helper.facts.remote()
        return facts

    async def _sample(self) -> None:
        while True:
            await asyncio.sleep(FIGURES_SECONDS)
            there = [device for device in self.devices if device.id is not None]
            if not there:
                continue
            try:
                figures = await self._helper.figures.remote([d.uuid for d in there if d.uuid is not None])
            except self.ray.exceptions.RayError as error:
                log.warning("no figures from %s: %s", self.name, in_one_line(error))
                await asyncio.sleep(10 * FIGURES_SECONDS)
                continue
            by_uuid = {gpu["uuid"]: gpu for gpu in figures["devices"]}
            for device in there:
                if device.id is not None:
                    self.events.sample(device.id, _figures_of(by_uuid.get(device.uuid), figures))

    def _actor(self, kind: type, wanted: dict[str, int]) -> Any:
        """An actor class of which an instance starts on this node and nowhere else."""
        strategies = self.ray.util.scheduling_strategies
        return self.ray.remote(kind).options(
            scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(self._entry["NodeID"], soft=False),
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=CALLS_AT_ONCE,
            **wanted,
        )


class SharedPieces:
    """Pieces of weights in the object store: nodes that are as far share them."""

    def __init__(self, pool: RayPool) -> None:
        self._pool = pool
        self._kept: OrderedDict[tuple[Path, int], asyncio.Task[Any]] = OrderedDict()

    async def get(self, path: Path, offset: int) -> Any:
        """A reference to the piece of a file that begins there. Raises OSError."""
        key = (path, offset)
        task = self._kept.get(key)
        if task is None:
            task = asyncio.ensure_future(asyncio.to_thread(self._put, path, offset))
            self._kept[key] = task
            task.add_done_callback(lambda done: self._forget_failed(key, done))
            while len(self._kept) > PIECES_KEPT:
                self._kept.popitem(last=False)
        # One node that is gone must not take the piece from the others.
        return await asyncio.shield(task)

    def _forget_failed(self, key: tuple[Path, int], task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._kept.pop(key, None)

    def _put(self, path: Path, offset: int) -> Any:
        with open(path, "rb") as file:
            file.seek(offset)
            return self._pool.ray.put(file.read(MODEL_PIECE_BYTES))


def _figures_of(gpu: dict[str, Any] | None, node: dict[str, Any]) -> DeviceFigures:
    """Of a GPU, or of the node's processor where the device is none."""
    if gpu is None:
        return DeviceFigures(node["cpu_percent"], node["memory_used_bytes"])
    return DeviceFigures(
        gpu["utilization_percent"], gpu["memory_used_bytes"], gpu["temperature_c"], gpu["power_w"]
    )


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
