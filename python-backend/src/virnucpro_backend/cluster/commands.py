"""The engine's commands to a pool as typed values; anything else is refused, with its field and value.

A command for a worker is passed on as it is: the worker checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from virnucpro_backend.typed_commands import CommandStruct, Count, Positive, parse_typed

DeviceId = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Address = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Script = Annotated[str, msgspec.Meta(max_length=100_000)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
WorkerCommandFields = dict[str, Any]
"""A worker's command as the engine wrote it."""


class RayChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="ray", tag_field="kind"):
    """Through a Ray cluster; `address` is `host:port` of its head node."""

    address: Address
    shared_storage: bool
    cpu_workers_per_node: Count


class SlurmChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="slurm", tag_field="kind"):
    """Through SLURM. `script` is None where a person submits it, `login` where sbatch is on this computer.
    `on_processors`: the tasks compute on processors."""

    script: Script | None
    tasks: Positive
    login: Address | None
    on_processors: bool


class OpenPool(CommandStruct, tag="open_pool", frozen=True):
    """Ask the scheduler for devices. `pool_folder` lies below `run_folder`."""

    pool: RayChoice | SlurmChoice
    run_folder: Path
    pool_folder: Path


class StartWorker(CommandStruct, tag="start_worker", frozen=True):
    """Start a worker on a device that has joined."""

    device: DeviceId


class WorkerCommand(CommandStruct, tag="worker_command", frozen=True):
    """Hand a command to the device's worker."""

    device: DeviceId
    command: WorkerCommandFields

    def __post_init__(self) -> None:
        if not isinstance(self.command.get("type"), str):
            raise ValueError("a worker's command has a text `type`")


class EndWorker(CommandStruct, tag="end_worker", frozen=True):
    """End the device's worker after the batch under way; by force after this many seconds."""

    device: DeviceId
    grace_seconds: Seconds


class KillWorker(CommandStruct, tag="kill_worker", frozen=True):
    """End the device's worker at once."""

    device: DeviceId


class ClosePool(CommandStruct, tag="close_pool", frozen=True):
    """End all workers, and give back what the scheduler has lent."""


PoolCommand = OpenPool | StartWorker | WorkerCommand | EndWorker | KillWorker | ClosePool


def parse_pool_command(fields: Mapping[str, object]) -> PoolCommand:
    """The command in a JSON object of schemas/pool-command.json. Raises CommandError."""
    return cast(PoolCommand, parse_typed(fields, PoolCommand))
