"""The engine's commands to a worker as typed values; anything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from virnucpro_backend.inference.command_fields import (
    CommandError,
    count,
    field,
    one_of,
    optional,
    share,
    text,
    truth,
)
from virnucpro_backend.inference.memory_profile import MemoryProfile, PlacementChoice, parse_profile

DeviceKind = Literal["cpu", "cuda", "rocm", "mps"]
"""`cuda` is NVIDIA's GPUs and `rocm` AMD's, though PyTorch calls the devices of both `cuda`."""

Precision = Literal["bf16", "fp16", "fp32", "fp8"]
EmbeddingPrecision = Literal["fp16", "fp32"]


@dataclass(frozen=True)
class Load:
    """Load a model onto a device; `tokens_per_batch`, `embed_equal_sequences_once` and `embeddings` belong to
    the run's plan. The rest is about this device's memory: what it may hold, and what is known of it."""

    device: DeviceKind
    model_folder: Path
    precision: Precision
    tokens_per_batch: int
    embed_equal_sequences_once: bool
    embeddings: EmbeddingPrecision | None
    memory_fraction: float | None
    most_tokens_per_batch: int | None
    placement: PlacementChoice
    memory_profile: MemoryProfile | None


@dataclass(frozen=True)
class Part:
    """Score the frames [frame_begin, frame_end) of a part file."""

    key: str
    part_path: Path
    part_sha256: str
    frame_begin: int
    frame_end: int
    scores_path: Path
    embeddings_path: Path | None


@dataclass(frozen=True)
class Recall:
    """Give a part back unless it has begun."""

    key: str


@dataclass(frozen=True)
class Stop:
    """Drop what is not written yet, say bye, exit."""


WorkerCommand = Load | Part | Recall | Stop


def parse_worker_command(fields: Mapping[str, object]) -> WorkerCommand:
    """The command in a JSON object of schemas/worker-command.json. Raises CommandError."""
    kind = fields.get("type")
    if kind == "load":
        return Load(
            device=one_of(fields, "device", get_args(DeviceKind)),
            model_folder=_path(fields, "model_folder"),
            precision=one_of(fields, "precision", get_args(Precision)),
            tokens_per_batch=_tokens(fields, "tokens_per_batch"),
            embed_equal_sequences_once=truth(fields, "embed_equal_sequences_once"),
            embeddings=optional(_embedding_precision, fields, "embeddings"),
            memory_fraction=optional(share, fields, "memory_fraction"),
            most_tokens_per_batch=optional(_tokens, fields, "most_tokens_per_batch"),
            placement=one_of(fields, "placement", get_args(PlacementChoice)),
            memory_profile=optional(_profile, fields, "memory_profile"),
        )
    if kind == "part":
        begin = count(fields, "frame_begin")
        return Part(
            key=text(fields, "part"),
            part_path=_path(fields, "part_path"),
            part_sha256=text(fields, "part_sha256"),
            frame_begin=begin,
            frame_end=count(fields, "frame_end", at_least=begin),
            scores_path=_path(fields, "scores_path"),
            embeddings_path=optional(_path, fields, "embeddings_path"),
        )
    if kind == "recall":
        return Recall(key=text(fields, "part"))
    if kind == "stop":
        return Stop()
    raise CommandError(f"unknown command {kind!r}")


def _tokens(fields: Mapping[str, object], name: str) -> int:
    return count(fields, name, at_least=1)


def _path(fields: Mapping[str, object], name: str) -> Path:
    return Path(text(fields, name))


def _embedding_precision(fields: Mapping[str, object], name: str) -> EmbeddingPrecision:
    precision: EmbeddingPrecision = one_of(fields, name, get_args(EmbeddingPrecision))
    return precision


def _profile(fields: Mapping[str, object], name: str) -> MemoryProfile:
    value = field(fields, name)
    if not isinstance(value, Mapping):
        raise CommandError(f"{fields.get('type')}: {name} must be an object, not {value!r}")
    try:
        return parse_profile(value)
    except ValueError as error:
        raise CommandError(f"{fields.get('type')}: {name}: {error}") from error
