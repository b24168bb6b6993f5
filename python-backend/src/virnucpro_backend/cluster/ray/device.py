"""One device of a Ray cluster, as the pool sees it: lent, at work, given back, and asked for again."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from virnucpro_backend.cluster.commands import WorkerCommandFields
from virnucpro_backend.cluster.events import ClusterDevice, PoolEvents
from virnucpro_backend.cluster.ray.files import PIECE_BYTES, ArrivingFile, DamagedFileError
from virnucpro_backend.cluster.ray.node import Order, Said
from virnucpro_backend.safetensors_file import read_ordinary
from virnucpro_backend.weights.errors import WeightsError

T = TypeVar("T")

SILENCE_SECONDS = 30.0
"""A node that can't be reached for so long is given up, though Ray still counts on it."""

CALL_SECONDS = 60.0
"""For one answer of a node, or one piece of a file on its way."""

RETRY_SECONDS = 1.0
POLL_SECONDS = 10.0
KILL_SECONDS = 10.0
"""For a killed worker to be gone."""

AGAIN_SECONDS = (10.0, 30.0, 60.0, 120.0)
"""Before a device whose actor has ended is asked for again, on a node that is still there."""

STEADY_SECONDS = 600.0
"""A device that was lent for so long before its actor ended has not ended too often."""

LOAD_FAILURES = ("model_missing", "model_damaged")
DISK_FAILURES = ("disk_full", "write_failed")
FULL_DISK = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}

log = logging.getLogger(__name__)


class Node(Protocol):
    """What a device needs of the node that it is in."""

    name: str
    ray: Any
    events: PoolEvents
    shared_storage: bool
    gone: str | None
    """Why the node is gone, once it is."""

    def host(self, kind: Literal["gpu", "cpu"]) -> Any:
        """A new actor on this node that holds one device, once Ray has lent it."""

    def device_id(self, uuid: str | None) -> str | None:
        """The name of a device in the run; None where that GPU has joined already."""

    async def model(self, folder: Path) -> str:
        """The folder on this node with the model that lies in `folder` here. Raises WeightsError."""


@dataclass(frozen=True)
class Ticket:
    """A part that was sent to a node: where its results belong, and the files it has there."""

    scores_path: str
    embeddings_path: str | None
    names: list[str]


class RayDevice:
    """Asks for one device of a node, again and again, and works on it while it is lent.

    Lives on the pool's event loop. `asked_at`: since when (time.monotonic) it waits for Ray to lend it; None
    while it has it, and when it has given up.
    """

    def __init__(self, node: Node, kind: Literal["gpu", "cpu"]) -> None:
        self.kind = kind
        self.id: str | None = None
        self.uuid: str | None = None
        self.asked_at: float | None = None
        self._node = node
        self._host: Any = None
        self._scratch = ""
        self._orders: asyncio.Queue[tuple[int, WorkerCommandFields | None]] = asyncio.Queue()
        """Commands of the worker of a number; None starts it."""
        self._worker = 0
        """Number of the worker that is there, or was there last."""
        self._ended = asyncio.Event()
        """Whether that worker has ended."""
        self._given = 0
        """Orders that the actor was given."""
        self._results: asyncio.Queue[Said] = asyncio.Queue()
        """Finished parts whose files are to be fetched, and ends of workers behind them."""
        self._parts: dict[str, Ticket] = {}
        self._lost: asyncio.Future[str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def live(self) -> None:
        """Until the node is gone, which cancels this, or the device can't be used."""
        failures = 0
        while failures <= len(AGAIN_SECONDS):
            if failures > 0:
                await asyncio.sleep(AGAIN_SECONDS[failures - 1])
            lent_at = time.monotonic()
            self._host = self._node.host(self.kind)
            try:
                if not await self._lend():
                    return
            finally:
                self._kill_actor()
            failures = 1 if time.monotonic() - lent_at > STEADY_SECONDS else failures + 1
        self._node.events.log("warning", f"A device of {self._node.name} ended too often, and is left out.")

    async def _lend(self) -> bool:
        """Wait for Ray to lend the device, and work on it while it does. False if it can't be worked on."""
        self.asked_at = time.monotonic()
        try:
            facts = await self._result(self._host.device.remote())
        except self._node.ray.exceptions.RayError as error:
            log.warning("no device of %s: %s", self._node.name, error)
            return True
        finally:
            self.asked_at = None
        if not self._join(facts):
            return False
        reason = ""
        try:
            reason = await self._serve()
        finally:
            self._leave(reason or self._node.gone or f"{self._node.name} is not used any more.")
        return True

    def start(self) -> None:
        """Start a worker."""
        self._worker += 1
        self._ended.clear()
        self._parts.clear()
        self._orders.put_nowait((self._worker, None))

    def command(self, command: WorkerCommandFields) -> None:
        """Hand a command to the worker."""
        self._orders.put_nowait((self._worker, command))

    def end(self, grace_seconds: float) -> None:
        """End the worker after the batch under way; by force after this many seconds."""
        self._spawn(self._until_ended(lambda: self._host.end.remote(grace_seconds), grace_seconds))

    def kill(self) -> None:
        """End the worker at once."""
        self._spawn(self._until_ended(lambda: self._host.kill.remote(), 0))

    async def close(self) -> None:
        """End the worker and clean up on the node, if it answers."""
        if self.id is not None:
            await self._result(self._host.close.remote())

    def _join(self, facts: dict[str, Any]) -> bool:
        node, problem = self._node, facts.get("problem")
        name = None if problem else node.device_id(facts["uuid"])
        if name is None:
            problem = problem or f"The GPU {facts['uuid']} is there twice."
            node.events.log("error", f"A device of {node.name} can't be used. {problem}")
            return False
        self.id, self.uuid, self._scratch = name, facts["uuid"], facts["scratch"]
        self._lost = asyncio.get_running_loop().create_future()
        self._given = 0
        node.events.joined(
            ClusterDevice(name, node.name[:200], facts["name"][:200], facts["kind"], facts["memory"])
        )
        return True

    def _leave(self, reason: str) -> None:
        device, self.id = self.id, None
        for task in self._tasks:
            task.cancel()
        self._orders, self._results = asyncio.Queue(), asyncio.Queue()
        self._ended.set()
        if device is not None:
            self._node.events.left(device, reason)

    def _kill_actor(self) -> None:
        """Give the device back to Ray, which also ends an actor that doesn't answer."""
        try:
            self._node.ray.kill(self._host)
        except Exception as error:
            log.warning("an actor of %s could not be ended: %s", self._node.name, error)

    async def _serve(self) -> str:
        """Pass on what the worker says and is told, until the device is lost, and why it is."""
        assert self._lost is not None
        tasks = [asyncio.ensure_future(task) for task in (self._listen(), self._give_orders(), self._fetch())]
        try:
            done, _ = await asyncio.wait([*tasks, self._lost], return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        except self._node.ray.exceptions.RayError as error:
            log.warning("%s is lost: %s", self.id, error)
            return self._node.gone or in_words(error, self._node.name)
        except SilentNodeError:
            return f"{self._node.name} doesn't answer."
        finally:
            for task in tasks:
                task.cancel()

    async def _listen(self) -> str:
        heard = 0
        while True:
            first, said = await self._ask(
                lambda have=heard: self._host.said.remote(have, POLL_SECONDS)  # type: ignore[misc]
            )
            for item in said[heard - first :]:
                self._take(item)
            heard = first + len(said)

    def _take(self, said: Said) -> None:
        if said[0] == "log":
            log.info("%s: %s", self.id, said[1])
        elif said[0] == "exit" or (said[0] == "line" and self._is_about_files(said[1])):
            self._results.put_nowait(said)
        else:
            self._pass_on(said[1])

    def _is_about_files(self, line: bytes) -> bool:
        return not self._node.shared_storage and (b'"part_done"' in line or b'"part_failed"' in line)

    def _pass_on(self, line: bytes | str) -> None:
        if self.id is not None and not self._node.events.worker_line(self.id, line):
            self.kill()

    async def _fetch(self) -> str:
        """Results come before the end of their worker, whose other lines pass them by."""
        while True:
            said = await self._results.get()
            if said[0] == "line":
                self._pass_on(await self._fetched(said[1]))
            elif said[0] == "exit" and self.id is not None:
                self._ended.set()
                self._node.events.worker_exit(self.id, *said[1])

    async def _give_orders(self) -> str:
        while True:
            worker, command = await self._orders.get()
            if worker != self._worker:
                continue  # It has ended, and another was started.
            order: Order = ("start",)
            if command is not None:
                ready = await self._ready_to_send(command)
                if ready is None:
                    continue
                order = ("line", json.dumps(ready, separators=(",", ":")).encode("ascii"))
            self._given += 1
            await self._ask(
                lambda number=self._given, order=order: self._host.obey.remote(number, order)  # type: ignore[misc]
            )

    async def _ready_to_send(self, command: WorkerCommandFields) -> WorkerCommandFields | None:
        """The command with the node's own paths, and what they name is there; None if that is impossible, of
        which the engine has heard in the worker's place.
        """
        try:
            if command["type"] == "load":
                return await self._with_model(command)
            if command["type"] == "part" and not self._node.shared_storage:
                return await self._with_part(command)
        except WeightsError as error:
            code = error.code if error.code in LOAD_FAILURES else "internal_error"
            self._say(type="load_failed", code=code, message=error.message, next_step=error.next_step)
            return None
        except UnreadablePartError as error:
            self._pass_on(_failure(command["part"], "part_unreadable", str(error), command["part_path"]))
            return None
        except self._node.ray.exceptions.RayTaskError as error:
            words = f"The part could not be sent to {self._node.name}: {in_one_line(error.cause)}"
            self._pass_on(_failure(command["part"], "internal_error", words, str(error)))
            return None
        return command

    async def _with_model(self, command: WorkerCommandFields) -> WorkerCommandFields:
        folder = await self._node.model(Path(command["model_folder"]))
        imported = command.get("imported_embeddings")
        if imported is not None and not self._node.shared_storage:
            self._node.events.log(
                "warning",
                f"{self._node.name} can't read the imported embeddings, and computes all its parts itself.",
            )
            imported = None
        return {**command, "model_folder": folder, "imported_embeddings": imported}

    async def _with_part(self, command: WorkerCommandFields) -> WorkerCommandFields:
        key = command["part"]
        name = f"parts/{key}.safetensors"
        try:
            content = await asyncio.to_thread(read_ordinary, Path(command["part_path"]))
        except OSError as error:
            raise UnreadablePartError(f"The part's file can't be read: {error.strerror or error}") from error
        for offset in range(0, len(content), PIECE_BYTES):
            piece = await asyncio.to_thread(self._node.ray.put, content[offset : offset + PIECE_BYTES])
            await self._ask(
                lambda offset=offset, piece=piece: self._host.write.remote(name, offset, piece)  # type: ignore[misc]
            )
        names = [name, f"results/{key}.scores"]
        embeddings = None
        if command["embeddings_path"] is not None:
            names.append(f"results/{key}.embeddings")
            embeddings = f"{self._scratch}/{names[2]}"
        self._parts[key] = Ticket(command["scores_path"], command["embeddings_path"], names)
        return {
            **command,
            "part_path": f"{self._scratch}/{name}",
            "scores_path": f"{self._scratch}/{names[1]}",
            "embeddings_path": embeddings,
        }

    async def _fetched(self, line: bytes) -> bytes | str:
        """The line about a part with the run's own paths, and its files are there; or that they are not."""
        try:
            event = json.loads(line)
            ticket = self._parts.pop(event["part"], None)
        except (ValueError, KeyError, TypeError):
            return line  # Whether it is a line of a worker at all is seen where it is passed on.
        if ticket is None:
            return line
        part = event["part"]
        try:
            if event["type"] == "part_failed":
                if event["code"] in DISK_FAILURES:
                    # It is the node's disk, not the run's: other nodes can go on.
                    event["code"] = "internal_error"
                    event["message"] = f"On {self._node.name}: {event['message']}"
                return json.dumps(event)
            # As the worker writes them: where there is a scores file, the part is complete.
            if ticket.embeddings_path is not None and event["embeddings_sha256"] is not None:
                await self._fetch_file(ticket.names[2], ticket.embeddings_path, event["embeddings_sha256"])
            await self._fetch_file(ticket.names[1], ticket.scores_path, event["scores_sha256"])
            return json.dumps({**event, "scores_path": ticket.scores_path})
        except DamagedFileError as error:
            return _failure(part, "internal_error", str(error), "")
        except self._node.ray.exceptions.RayTaskError as error:
            return _failure(part, "internal_error", f"{self._node.name} lost what it computed.", str(error))
        except OSError as error:
            code = "disk_full" if error.errno in FULL_DISK else "write_failed"
            return _failure(part, code, f"{ticket.scores_path} could not be written: {error}", repr(error))
        finally:
            await self._ask(lambda: self._host.drop.remote(ticket.names))

    async def _fetch_file(self, name: str, path: str, sha256: str) -> None:
        arriving = await asyncio.to_thread(ArrivingFile, Path(path))
        try:
            offset = 0
            while piece := await self._ask(
                lambda offset=offset: self._host.read.remote(name, offset)  # type: ignore[misc]
            ):
                await asyncio.to_thread(arriving.add, piece)
                offset += len(piece)
            await asyncio.to_thread(arriving.finish, sha256)
        finally:
            await asyncio.to_thread(arriving.discard)

    def _say(self, **event: object) -> None:
        self._pass_on(json.dumps(event))

    async def _until_ended(self, call: Callable[[], Any], seconds: float) -> None:
        """Have the worker end within so many seconds, or give the device up: its node doesn't answer."""
        worker = self._worker
        ended, lost = self._ended, self._lost
        try:
            await asyncio.wait_for(self._ask(call), seconds + KILL_SECONDS)
            await asyncio.wait_for(ended.wait(), seconds + KILL_SECONDS)
        except (asyncio.TimeoutError, SilentNodeError, self._node.ray.exceptions.RayError):
            if worker == self._worker and lost is not None and not lost.done():
                lost.set_result(f"{self._node.name} doesn't answer.")

    async def _ask(self, call: Callable[[], Any]) -> Any:
        """The answer to a call, which is repeated while the node can't be reached for the moment.

        Raises SilentNodeError, what the call raises, and RayActorError where the actor has ended.
        """
        silent_since: float | None = None
        while True:
            try:
                return await asyncio.wait_for(self._result(call()), CALL_SECONDS)
            except (self._node.ray.exceptions.ActorUnavailableError, asyncio.TimeoutError) as error:
                log.warning("%s is out of reach: %s", self.id, error)
                now = time.monotonic()
                silent_since = silent_since or now
                if now - silent_since > SILENCE_SECONDS:
                    raise SilentNodeError from error
                await asyncio.sleep(RETRY_SECONDS)

    async def _result(self, answer: Awaitable[T]) -> T:
        return await answer

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class SilentNodeError(Exception):
    """A node that could not be reached for long."""


class UnreadablePartError(Exception):
    """A part's file that can't be read here."""


def in_words(error: Exception, node: str) -> str:
    """Why a device is lost, from what Ray says of its actor."""
    text = in_one_line(error, 2000).lower()
    if "out of memory" in text or "oom" in text:
        return f"Ray has ended a worker on {node}, whose main memory was nearly full."
    if "node" in text and ("died" in text or "dead" in text or "terminated" in text):
        return f"The node {node} is gone from the Ray cluster."
    return f"Ray has ended a worker on {node}, or the connection with it is gone."


def in_one_line(error: object, most: int = 300) -> str:
    """The beginning of what an error says."""
    return " ".join(str(error).split())[:most]


def _failure(part: str, code: str, message: str, detail: str) -> str:
    return json.dumps(
        {"type": "part_failed", "part": part, "code": code, "message": message, "detail": detail[-4000:]}
    )
