"""The job of a prepare process, as it comes over the line protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virnucpro_backend.prepare.failures import FailureCode, PrepareError


@dataclass(frozen=True)
class JobInput:
    """input: its number in the run; sha256: what its bytes must hash to, if that is known."""

    input: int
    path: Path
    sha256: str | None


@dataclass(frozen=True)
class Job:
    """work_dir: the run folder's `work`; the other three are described at PartWriter."""

    inputs: tuple[JobInput, ...]
    work_dir: Path
    chunk_length: int
    residues_per_part: int
    tail_parts: int


def parse_job(command: dict[str, Any]) -> Job:
    """Raises PrepareError `internal_error` for a command this version doesn't understand."""
    try:
        if command["type"] != "prepare":
            raise ValueError(f"unexpected command {command['type']!r}")
        job = Job(
            tuple(
                JobInput(int(entry["input"]), Path(entry["path"]), entry["sha256"])
                for entry in command["inputs"]
            ),
            Path(command["work_dir"]),
            int(command["chunk_length"]),
            int(command["residues_per_part"]),
            int(command["tail_parts"]),
        )
        if min(job.chunk_length, job.residues_per_part) < 1 or job.tail_parts < 0:
            raise ValueError("lengths and sizes must be positive")
    except (KeyError, TypeError, ValueError) as error:
        raise PrepareError(
            FailureCode.INTERNAL_ERROR,
            f"The job of preparing the input was not understood ({type(error).__name__}: {error}).",
            "Reinstall the program: its parts don't fit together.",
        ) from error
    return job
