"""The engine's commands to a worker as typed values; anything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virnucpro_backend.inference.memory_profile import MemoryProfile, PlacementChoice, parse_profile

DeviceKind = Literal["cpu", "cuda", "rocm", "mps"]
"""`cuda` is NVIDIA's GPUs and `rocm` AMD's, though PyTorch calls the devices of both `cuda`."""

Precision = Literal["bf16", "fp16", "fp32", "fp8"]
EmbeddingPrecision = Literal["fp16", "fp32"]


class CommandError(ValueError):
    """A command that does not follow the protocol; the text says what is wrong."""


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
class Shard:
    """Score the frames [frame_begin, frame_end) of a shard file."""

    key: str
    shard_path: Path
    shard_sha256: str
    frame_begin: int
    frame_end: int
    scores_path: Path
    embeddings_path: Path | None


@dataclass(frozen=True)
class Recall:
    """Give a shard back unless it has begun."""

    key: str


@dataclass(frozen=True)
class Pause:
    """Finish the batch, free cached device memory, keep everything else."""


@dataclass(frozen=True)
class Resume:
    """Go on after Pause."""


@dataclass(frozen=True)
class Stop:
    """Drop what is not written yet, say bye, exit."""


WorkerCommand = Load | Shard | Recall | Pause | Resume | Stop


def parse_worker_command(fields: Mapping[str, object]) -> WorkerCommand:
    """The command in a JSON object of schemas/worker-command.json. Raises CommandError."""
    kind = fields.get("type")
    if kind == "load":
        return Load(
            device=_one_of(fields, "device", ("cpu", "cuda", "rocm", "mps")),  # type: ignore[arg-type]
            model_folder=Path(_text(fields, "model_folder")),
            precision=_one_of(fields, "precision", ("bf16", "fp16", "fp32", "fp8")),  # type: ignore[arg-type]
            tokens_per_batch=_count(fields, "tokens_per_batch", at_least=1),
            embed_equal_sequences_once=_truth(fields, "embed_equal_sequences_once"),
            embeddings=(
                None
                if _field(fields, "embeddings") is None
                else _one_of(fields, "embeddings", ("fp16", "fp32"))  # type: ignore[arg-type]
            ),
            memory_fraction=_fraction(fields, "memory_fraction"),
            most_tokens_per_batch=(
                None
                if _field(fields, "most_tokens_per_batch") is None
                else _count(fields, "most_tokens_per_batch", at_least=1)
            ),
            placement=_one_of(fields, "placement", ("auto", "resident", "streamed")),  # type: ignore[arg-type]
            memory_profile=_profile(fields, "memory_profile"),
        )
    if kind == "shard":
        begin = _count(fields, "frame_begin")
        embeddings_path = _field(fields, "embeddings_path")
        return Shard(
            key=_text(fields, "shard"),
            shard_path=Path(_text(fields, "shard_path")),
            shard_sha256=_text(fields, "shard_sha256"),
            frame_begin=begin,
            frame_end=_count(fields, "frame_end", at_least=begin),
            scores_path=Path(_text(fields, "scores_path")),
            embeddings_path=None if embeddings_path is None else Path(_text(fields, "embeddings_path")),
        )
    if kind == "recall":
        return Recall(key=_text(fields, "shard"))
    if kind == "pause":
        return Pause()
    if kind == "resume":
        return Resume()
    if kind == "stop":
        return Stop()
    raise CommandError(f"unknown command {kind!r}")


def _field(fields: Mapping[str, object], name: str) -> object:
    if name not in fields:
        raise CommandError(f"{fields.get('type')}: field {name!r} is missing")
    return fields[name]


def _text(fields: Mapping[str, object], name: str) -> str:
    value = _field(fields, name)
    if not isinstance(value, str) or not value:
        raise CommandError(f"{fields.get('type')}: {name} must be text, not {value!r}")
    return value


def _one_of(fields: Mapping[str, object], name: str, allowed: tuple[str, ...]) -> str:
    value = _text(fields, name)
    if value not in allowed:
        raise CommandError(f"{fields.get('type')}: {name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _count(fields: Mapping[str, object], name: str, at_least: int = 0) -> int:
    value = _field(fields, name)
    if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
        raise CommandError(
            f"{fields.get('type')}: {name} must be a whole number of {at_least} or more, not {value!r}"
        )
    return value


def _truth(fields: Mapping[str, object], name: str) -> bool:
    value = _field(fields, name)
    if not isinstance(value, bool):
        raise CommandError(f"{fields.get('type')}: {name} must be true or false, not {value!r}")
    return value


def _profile(fields: Mapping[str, object], name: str) -> MemoryProfile | None:
    value = _field(fields, name)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise CommandError(f"{fields.get('type')}: {name} must be an object, not {value!r}")
    try:
        return parse_profile(value)
    except ValueError as error:
        raise CommandError(f"{fields.get('type')}: {name}: {error}") from error


def _fraction(fields: Mapping[str, object], name: str) -> float | None:
    value = _field(fields, name)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= 1:
        raise CommandError(f"{fields.get('type')}: {name} must be above 0 and at most 1, not {value!r}")
    return float(value)
