"""The engine's commands to a worker as typed values; parsing refuses all else, naming field and value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import msgspec

from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.inference.memory.memory_profile import MemoryProfile, PlacementChoice
from virnucpro_backend.typed_commands import CommandStruct, Count, Positive, Sha256, Text, parse_typed

EmbeddingPrecision = Literal["fp16", "fp32"]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class ImportedFolder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Embeddings of an earlier run; see `imported`."""

    folder: Path
    index_sha256: Sha256


class SecondHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model whose classifier judges the frames of shorter chunks; its encoders are those of the first."""

    folder: Path
    model_hash: Sha256


class Load(CommandStruct, tag="load", frozen=True):
    """Load a model onto a device; `tokens_per_batch`, `embed_equal_sequences_once` and `embeddings` belong to
    the run's plan, `imported_embeddings` to the run. The other fields are about this device's memory: its
    limits, and what is known about it. `second_head`: None if one classifier judges all frames."""

    device: DeviceKind
    model_folder: Path
    precision: Precision
    tokens_per_batch: Positive
    embed_equal_sequences_once: bool
    embeddings: EmbeddingPrecision | None
    memory_fraction: Share | None
    most_tokens_per_batch: Positive | None
    placement: PlacementChoice
    memory_profile: MemoryProfile | None
    imported_embeddings: ImportedFolder | None
    second_head: SecondHead | None


class Part(CommandStruct, tag="part", frozen=True):
    """Score the frames [frame_begin, frame_end) of a part file."""

    key: Text = msgspec.field(name="part")
    part_path: Path
    part_sha256: Text
    frame_begin: Count
    frame_end: Count
    scores_path: Path
    embeddings_path: Path | None

    def __post_init__(self) -> None:
        if self.frame_end < self.frame_begin:
            raise ValueError(f"frame_end {self.frame_end} is before frame_begin {self.frame_begin}")


class Recall(CommandStruct, tag="recall", frozen=True):
    """Give a part back unless it has been started."""

    key: Text = msgspec.field(name="part")


class Stop(CommandStruct, tag="stop", frozen=True):
    """Drop results that are not written yet, send `bye`, and exit."""


WorkerCommand = Load | Part | Recall | Stop


def parse_worker_command(fields: Mapping[str, object]) -> WorkerCommand:
    """Parse a JSON object of schemas/worker-command.json. Raises CommandError."""
    return cast(WorkerCommand, parse_typed(fields, WorkerCommand))
