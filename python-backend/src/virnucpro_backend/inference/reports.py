"""The events about a part that a worker sends to the engine."""

from __future__ import annotations

import time
from dataclasses import asdict

from virnucpro_backend.inference.commands import Part
from virnucpro_backend.inference.encoding import PartListener
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.memory.device_memory import DeviceMemory
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScores
from virnucpro_backend.inference.writer import WrittenPart
from virnucpro_backend.protocol import Channel

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
    ) -> None:
        """Report a part whose files are on disk."""
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
