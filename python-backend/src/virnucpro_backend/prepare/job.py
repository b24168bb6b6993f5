"""The job of a prepare process, as received over the line protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import msgspec

from virnucpro_backend.prepare.failures import halves_do_not_fit
from virnucpro_backend.prepare.scanning.repairs import Repair
from virnucpro_backend.typed_commands import (
    CommandError,
    CommandStruct,
    Count,
    Positive,
    Sha256,
    parse_typed,
)


class JobInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """input: its number in the run; sha256: the required SHA-256 of its bytes, if known."""

    input: Count
    path: Path
    sha256: Sha256 | None


class Job(CommandStruct, tag="prepare", frozen=True):
    """work_dir: the run folder's `work`; PartWriter describes the next three fields.

    order_seed: the seed for turn_order.py; None keeps the order of the files. `repairs`: see `mended`.
    """

    inputs: Annotated[tuple[JobInput, ...], msgspec.Meta(min_length=1)]
    work_dir: Path
    chunk_length: Positive
    residues_per_part: Positive
    tail_parts: Count
    order_seed: Count | None
    repairs: tuple[Repair, ...] = ()


def parse_job(command: Mapping[str, object]) -> Job:
    """Parse a command into a job.

    Raises PrepareError `internal_error` if this version does not understand the command.
    """
    try:
        return cast(Job, parse_typed(command, Job))
    except CommandError as error:
        raise halves_do_not_fit(error) from error
