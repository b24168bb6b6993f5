"""What becomes of a part: its results in files, and the events about it that a worker sends to the engine."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from virnucpro_backend.inference.commands import Part
from virnucpro_backend.inference.encoding import PartListener
from virnucpro_backend.inference.failures import PartFailedError, write_failure
from virnucpro_backend.inference.memory.device_memory import DeviceMemory
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScores
from virnucpro_backend.protocol import Channel
from virnucpro_backend.safetensors_file import make_real_folders, write_safetensors


@dataclass(frozen=True)
class WrittenPart:
    """SHA-256 of the files that are safely on disk."""

    scores_sha256: str
    embeddings_sha256: str | None


def write_part(command: Part, scores: PartScores, model_hash: str, precision: str) -> WrittenPart:
    """Write work/scores/KEY.safetensors and, on request, work/embeddings/KEY.safetensors.

    The embeddings are written first, so that a part with a scores file is complete. Raises PartFailedError
    (`disk_full`, `folder_unwritable`).
    """
    metadata = {
        "part": command.key,
        "part_sha256": command.part_sha256,
        "frame_begin": str(command.frame_begin),
        "frame_end": str(command.frame_end),
        "model_hash": model_hash,
        "precision": precision,
    }
    embeddings_sha256 = None
    if command.embeddings_path is not None and scores.embeddings is not None:
        embeddings_sha256 = _write(command.embeddings_path, dict(scores.embeddings), metadata)
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "score1": scores.score1,
        "score2": scores.score2,
        "state": scores.state,
    }
    return WrittenPart(_write(command.scores_path, arrays, metadata), embeddings_sha256)


def _write(path: Path, arrays: dict[str, npt.NDArray[np.generic]], metadata: dict[str, str]) -> str:
    try:
        make_real_folders(path.parent.parent, path.parent)
        return write_safetensors(path, arrays, metadata).sha256
    except OSError as error:
        raise write_failure(error, path.name) from error


PROGRESS_SECONDS = 0.5
DETAIL_CHARACTERS = 4000
"""How much of a traceback's end goes into the event; the log has all of it."""


class PartProgress(PartListener):
    """Reports a part's progress, at most twice a second and at its end, and when memory runs out."""

    def __init__(
        self, channel: Channel, command: Part, frames: PartFrames, memory: DeviceMemory | None
    ) -> None:
        self._channel = channel
        self._memory = memory
        self._key = command.key
        self._frames = (0, frames.count)
        self._residues = (0, len(frames.residues))
        self._begun_residues = 0.0
        self._told_at = time.monotonic()

    def batch_done(self, frames: int, residues: int) -> None:
        """Count a batch, and report it if it is time."""
        self._frames = (self._frames[0] + frames, self._frames[1])
        self._residues = (self._residues[0] + residues, self._residues[1])
        self._begun_residues = 0.0
        if frames:
            self._report(at_once=self._frames[0] == self._frames[1])

    def step_done(self, residues: float) -> None:
        """Count work on unfinished batches, and report it if it is time."""
        self._begun_residues += residues
        if residues:
            self._report(at_once=False)

    def _report(self, *, at_once: bool) -> None:
        now = time.monotonic()
        if at_once or now - self._told_at >= PROGRESS_SECONDS:
            self._told_at = now
            self._channel.emit(
                "progress",
                part=self._key,
                frames_done=self._frames[0],
                residues_done=min(self._residues[0] + int(self._begun_residues), self._residues[1]),
                residues_total=self._residues[1],
            )

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        """Report that batches become smaller, with the corrected memory profile."""
        self._begun_residues = 0.0
        profile = self._memory.ran_out(tokens_before, tokens_after) if self._memory is not None else None
        self._channel.emit(
            "oom",
            part=self._key,
            tokens_per_batch_before=tokens_before,
            tokens_per_batch_after=tokens_after,
            memory_profile=None if profile is None else profile.fields(),
        )


class PartReports:
    """The events `progress`, `oom`, `part_done` and `part_failed`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.memory: DeviceMemory | None = None
        """Set once a model is loaded on a device whose memory is counted."""

    def progress(self, command: Part, frames: PartFrames) -> PartProgress:
        """Start reporting a part's progress."""
        return PartProgress(self._channel, command, frames, self.memory)

    def done(
        self,
        command: Part,
        scores: PartScores,
        written: WrittenPart,
        residues: int,
        seconds: float,
        peaks: tuple[int, int | None],
    ) -> None:
        """Report a part whose files are on disk. `peaks`: bytes, as of `peak_memory`."""
        self._channel.emit(
            "part_done",
            part=command.key,
            scores_path=str(command.scores_path),
            scores_sha256=written.scores_sha256,
            embeddings_sha256=written.embeddings_sha256,
            frames=len(scores.state),
            residues=residues,
            seconds=round(seconds, 6),
            frames_recomputed_fp32=scores.recomputed,
            frames_failed=scores.failed,
            frames_outside_norm_band=scores.outside_norm_band,
            norms=None if scores.norms is None else asdict(scores.norms),
            batch_halvings=scores.batch_halvings,
            repeated_proteins=scores.repeated_proteins,
            repeated_nucleotides=scores.repeated_nucleotides,
            esm2_batches=scores.esm2_batches,
            esm2_tokens=scores.esm2_tokens,
            peak_memory_bytes=peaks[0],
            peak_allocated_bytes=peaks[1],
        )

    def imported_refused(self, command: Part) -> None:
        """Warn that imported embeddings are not this model's, so that all are computed from now on."""
        self._channel.emit(
            "log",
            level="warning",
            message=f"Imported embeddings of part {command.key} are not what this model gives for these "
            "sequences. From here on this device computes all embeddings itself.",
        )

    def failed(self, command: Part, failure: PartFailedError) -> None:
        """Report a part without scores."""
        self._channel.emit(
            "part_failed",
            part=command.key,
            code=failure.code,
            message=failure.message,
            detail=failure.detail[-DETAIL_CHARACTERS:],
        )
