"""What a worker tells the engine about a shard."""

from __future__ import annotations

import time

from virnucpro_backend.inference.commands import Shard
from virnucpro_backend.inference.encoding import ShardListener
from virnucpro_backend.inference.failures import ShardFailedError
from virnucpro_backend.inference.memory import DeviceMemory
from virnucpro_backend.inference.scorer import ShardScores
from virnucpro_backend.inference.shard_file import ShardFrames
from virnucpro_backend.inference.writer import WrittenShard
from virnucpro_backend.protocol import Channel

PROGRESS_SECONDS = 0.5
DETAIL_CHARACTERS = 4000
"""The end of a traceback that goes into the event; all of it is in the log."""


class ShardProgress(ShardListener):
    """Tells of one shard: its progress at most twice a second and at its end, and memory that ran out."""

    def __init__(
        self, channel: Channel, command: Shard, frames: ShardFrames, memory: DeviceMemory | None
    ) -> None:
        self._channel = channel
        self._memory = memory
        self._key = command.key
        self._frames = (0, frames.count)
        self._residues = (0, len(frames.residues))
        self._told_at = time.monotonic()

    def batch_done(self, frames: int, residues: int) -> None:
        self._frames = (self._frames[0] + frames, self._frames[1])
        self._residues = (self._residues[0] + residues, self._residues[1])
        now = time.monotonic()
        if frames and (now - self._told_at >= PROGRESS_SECONDS or self._frames[0] == self._frames[1]):
            self._told_at = now
            self._channel.emit(
                "progress",
                shard=self._key,
                frames_done=self._frames[0],
                frames_total=self._frames[1],
                residues_done=self._residues[0],
                residues_total=self._residues[1],
            )

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        profile = self._memory.ran_out(tokens_before, tokens_after) if self._memory is not None else None
        self._channel.emit(
            "oom",
            shard=self._key,
            tokens_per_batch_before=tokens_before,
            tokens_per_batch_after=tokens_after,
            memory_profile=None if profile is None else profile.fields(),
        )


class ShardReports:
    """The events `progress`, `oom`, `shard_done` and `shard_failed`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.memory: DeviceMemory | None = None
        """What is known of the device's memory, once a model is loaded there and memory is counted."""

    def progress(self, command: Shard, frames: ShardFrames) -> ShardProgress:
        """The progress of a shard that begins."""
        return ShardProgress(self._channel, command, frames, self.memory)

    def done(
        self,
        command: Shard,
        scores: ShardScores,
        written: WrittenShard,
        residues: int,
        seconds: float,
        peak_memory_bytes: int,
    ) -> None:
        """A shard whose files are on disk."""
        self._channel.emit(
            "shard_done",
            shard=command.key,
            scores_path=str(command.scores_path),
            scores_sha256=written.scores_sha256,
            embeddings_sha256=written.embeddings_sha256,
            frames=len(scores.state),
            residues=residues,
            seconds=round(seconds, 6),
            frames_recomputed_fp32=scores.recomputed,
            frames_failed=scores.failed,
            frames_outside_norm_band=scores.outside_norm_band,
            batch_halvings=scores.batch_halvings,
            repeated_proteins=scores.repeated_proteins,
            repeated_nucleotides=scores.repeated_nucleotides,
            peak_memory_bytes=peak_memory_bytes,
        )

    def failed(self, command: Shard, failure: ShardFailedError) -> None:
        """A shard without scores."""
        self._channel.emit(
            "shard_failed",
            shard=command.key,
            code=failure.code,
            message=failure.message,
            detail=failure.detail[-DETAIL_CHARACTERS:],
        )
