"""Recognises dropped files by their content, whatever their names, and finds which models they can
make."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.encoders.head import HEAD_TENSORS
from virnucpro_backend.encoders.tokens import DnaTokenizer
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError, unreadable
from virnucpro_backend.weights.formats.checkpoints import Checkpoint, open_checkpoint
from virnucpro_backend.weights.formats.convert import find_encoder
from virnucpro_backend.weights.formats.names import read_head, read_tensor
from virnucpro_backend.weights.formats.pickles import limited_reading
from virnucpro_backend.weights.model_files import read_small_json

Kind = Literal["esm2", "dnabert_s", "head", "tokenizer", "config", "index", "other"]

Why = Literal[
    "empty",
    "lfs",
    "web_page",
    "too_small",
    "unreadable",
    "index_alone",
    "transformer_engine",
    "contacts",
    "other_language_model",
    "other_weights",
    "unknown",
]

BROKEN: frozenset[Why] = frozenset({"empty", "lfs", "web_page", "too_small", "unreadable", "index_alone"})
"""These notes mean that the file was supposed to hold weights."""
MOST_FILES = 1_000
MUCH_SMALLER = 0.9
"""A file below this share of the published size cannot be a copy of it in another format."""
PUBLISHED_HEADS = {"esm2": (36, 2560, 40), "dnabert_s": (12, 768, 12)}
"""Layers, width and attention heads, used if no config.json gives the number of heads."""


@dataclass(frozen=True)
class Note:
    """Why a file is not used. `text`: the reader's error; `published`: bytes of the published file of this
    name, 0 if there is none."""

    why: Why
    text: str = ""
    published: int = 0


@dataclass(frozen=True)
class Recognised:
    """A file, its kind, and the reason if it is not used."""

    path: Path
    kind: Kind
    size: int
    note: Note | None = None


@dataclass(frozen=True)
class FoundEncoder:
    """An encoder in one or several files. `config`: its sizes."""

    role: str
    paths: tuple[Path, ...]
    checkpoint: Checkpoint
    config: Esm2Config | DnabertSConfig

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(path.stat().st_size for path in self.paths)

    def sha256(self) -> str:
        """SHA-256 of its file, or over the SHA-256s of several files. Raises OSError."""
        each = sorted(sha256_of_file(path) for path in self.paths)
        return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


@dataclass(frozen=True)
class FoundHead:
    """A classifier. `inputs`: how many numbers it takes."""

    path: Path
    checkpoint: Checkpoint
    inputs: int


@dataclass
class Found:
    """Everything in some files and folders. `problems`: sentences about things that cannot be used;
    `broken`: files that were named explicitly and were supposed to hold weights, but do not."""

    files: list[Recognised] = field(default_factory=list)
    encoders: dict[str, FoundEncoder] = field(default_factory=dict)
    heads: list[FoundHead] = field(default_factory=list)
    tokenizer: Path | None = None
    problems: list[str] = field(default_factory=list)
    broken: list[Recognised] = field(default_factory=list)


def recognise(
    paths: list[Path],
    published_sizes: Mapping[str, int] | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> Found:
    """Examine files, and folders recursively. Only headers are read, not gigabytes.

    published_sizes: bytes of published files, by name. `on_file` is called before each file is read. Raises
    WeightsError (`model_missing`, `usage`) if a path does not exist or there are too many files.
    """
    found = Found()
    parts: dict[str, list[tuple[Path, Checkpoint]]] = {"esm2": [], "dnabert_s": []}
    parts_of: dict[Path, Iterable[str]] = {}
    configs: list[tuple[Path, dict[str, Any]]] = []
    for path in _files_of(paths):
        on_file(path)
        recognised, content = _look_into(path, published_sizes or {})
        found.files.append(recognised)
        if recognised.kind == "tokenizer" and found.tokenizer is None:
            found.tokenizer = path
        elif recognised.kind == "config" and isinstance(content, dict):
            configs.append((path, content))
        elif recognised.kind == "index" and isinstance(content, dict):
            parts_of[path] = content["weight_map"].values()
        elif isinstance(content, Checkpoint):
            if recognised.kind == "head":
                found.heads.append(FoundHead(path, content, read_head(content).inputs))
            elif recognised.kind in parts:
                parts[recognised.kind].append((path, content))
    for role, files in parts.items():
        _put_together(role, files, configs, found)
    names = {file.path.name for file in found.files}
    for number, file in enumerate(found.files):
        if file.kind == "index" and names.isdisjoint(parts_of[file.path]):
            found.files[number] = dataclasses.replace(file, note=Note("index_alone"))
    named = [file for file in found.files if file.path in paths]
    found.broken = [file for file in named if file.note and file.note.why in BROKEN]
    return found


def _put_together(
    role: str,
    files: list[tuple[Path, Checkpoint]],
    configs: list[tuple[Path, dict[str, Any]]],
    found: Found,
) -> None:
    """Use one complete file, else all files of the same format together, as the parts of a sharded file."""
    if not files:
        return
    groups = [[file] for file in files]
    for format_ in (True, False):
        shards = [file for file in files if _is_safetensors(file[0]) == format_]
        if len(shards) > 1:
            groups.append(shards)
    problem: WeightsError | None = None
    for group in groups:
        paths = tuple(path for path, _ in group)
        try:
            checkpoint = _with_options(role, _joined(group), paths[0].parent, configs)
            found.encoders[role] = FoundEncoder(role, paths, checkpoint, check_layout(role, checkpoint))
            return
        except WeightsError as error:
            problem = error
    if problem:
        found.problems.append(problem.message)


def check_layout(role: str, checkpoint: Checkpoint) -> Esm2Config | DnabertSConfig:
    """Check that all tensors of an encoder exist with the right shapes, without reading their numbers, and
    return its sizes.

    Raises WeightsError (`model_damaged`).
    """
    shapes = dataclasses.replace(checkpoint, tensors=_Shapes(checkpoint.tensors))
    try:
        config, model, state = find_encoder(role, shapes)
    except (ValueError, RuntimeError) as error:
        raise unreadable(checkpoint.name, str(error)) from error
    for key, expected in model.state_dict().items():
        if key != "rotary.inv_freq":
            read_tensor(state, key, expected, checkpoint.name)
    return config


def check_tokenizer(path: Path, vocabulary: int) -> None:
    """Raise WeightsError (`model_damaged`) unless a tokenizer is a DNA tokenizer for this encoder."""
    try:
        tokens = DnaTokenizer(path).vocabulary
    except Exception as error:  # the tokenizers library raises nothing more precise
        raise unreadable(path.name, str(error)) from error
    if tokens > vocabulary:
        raise unreadable(path.name, f"it has {tokens} tokens, the DNABERT-S only {vocabulary}")


class _Shapes(Mapping[str, Tensor]):
    """The tensors of a checkpoint without their numbers."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name].to("meta")

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


class _Together(Mapping[str, Tensor]):
    """The tensors of several files."""

    def __init__(self, files: list[tuple[Path, Checkpoint]]) -> None:
        self._file_of: dict[str, Mapping[str, Tensor]] = {}
        for path, checkpoint in files:
            for name in checkpoint.tensors:
                if name in self._file_of:
                    raise unreadable(path.name, f"{name} is in another of these files, too")
                self._file_of[name] = checkpoint.tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._file_of[name][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._file_of)

    def __len__(self) -> int:
        return len(self._file_of)


def _joined(files: list[tuple[Path, Checkpoint]]) -> Checkpoint:
    [(path, first), *others] = files
    if not others:
        return first
    return Checkpoint(f"{path.name} and {len(others)} more", _Together(files), first.options)


def _with_options(
    role: str, checkpoint: Checkpoint, folder: Path, configs: list[tuple[Path, dict[str, Any]]]
) -> Checkpoint:
    """Add the configuration with matching sizes, preferably the one beside the weights: a `config.json`
    there may belong to another encoder."""
    layers, width = _depth_and_width(role, checkpoint)
    own = checkpoint.options
    if own.get("hidden_size", width) != width:
        own = {}
    if any(isinstance(own.get(name), int) for name in ("num_attention_heads", "encoder_attention_heads")):
        return dataclasses.replace(checkpoint, options=own)
    fitting = [
        ("hidden_size" not in content, path.parent != folder, content)
        for path, content in configs
        if content.get("hidden_size", width) == width and content.get("num_hidden_layers", layers) == layers
    ]
    if fitting:
        return dataclasses.replace(checkpoint, options=min(fitting, key=lambda entry: entry[:2])[2])
    published_layers, published_width, heads = PUBLISHED_HEADS[role]
    if (layers, width) == (published_layers, published_width):
        return dataclasses.replace(checkpoint, options={**own, "num_attention_heads": heads})
    return dataclasses.replace(checkpoint, options=own)


def _depth_and_width(role: str, checkpoint: Checkpoint) -> tuple[int, int]:
    tensors = checkpoint.tensors
    layers = {part for name in tensors for part in name.split(".") if part.isdigit()}
    norm = next(
        (name for name in tensors if "layer" in name.lower() and name.endswith(".bias") and "orm" in name),
        None,
    )
    return len(layers), 0 if norm is None else int(tensors[norm].shape[0])


def _files_of(paths: list[Path]) -> list[Path]:
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            for folder, inner, names in os.walk(path):
                inner[:] = sorted(name for name in inner if not name.startswith("."))
                for name in sorted(names):
                    file = Path(folder) / name
                    if not name.startswith(".") and file.is_file():  # opening a pipe would block
                        files[file] = None
                if len(files) > MOST_FILES:
                    raise WeightsError(
                        "import_refused",
                        f"There are more than {MOST_FILES} files below {path}.",
                        "Choose the folder that holds the weights.",
                    )
        elif path.is_file():
            files[path] = None
        else:
            raise WeightsError("model_missing", f"{path} is not there.", "Check the path.")
    return list(files)


def _look_into(
    path: Path, published_sizes: Mapping[str, int]
) -> tuple[Recognised, Checkpoint | dict[str, Any] | None]:
    """Find the kind of a file, and read its content."""
    size = path.stat().st_size

    def other(why: Why, text: str = "") -> tuple[Recognised, None]:
        published = published_sizes.get(path.name, 0)
        if why in ("unreadable", "unknown") and size < MUCH_SMALLER * published:
            why = "too_small"
        return Recognised(path, "other", size, Note(why, text, published)), None

    with open(path, "rb") as file:
        begin = file.read(64)
    if size == 0:
        return other("empty")
    if begin.startswith(b"version https://git-lfs"):
        return other("lfs")
    if begin.lstrip().lower().startswith((b"<!doctype", b"<html")):
        return other("web_page")
    if begin.lstrip()[:1] == b"{":
        kind, content = _look_into_json(path)
        return other("unknown") if kind is None else (Recognised(path, kind, size), content)
    if not (begin.startswith((b"PK\x03\x04", b"\x80")) or begin[8:9] == b"{"):
        return other("unknown")
    try:
        with limited_reading(path):
            checkpoint = open_checkpoint(path)
        kind_or_why = _kind_of(set(checkpoint.tensors))
        if kind_or_why == "head":
            read_head(checkpoint)
    except WeightsError as error:
        return other("unreadable", error.message)
    if kind_or_why == "head" or kind_or_why == "dnabert_s" or kind_or_why == "esm2":
        return Recognised(path, kind_or_why, size), checkpoint
    return other(kind_or_why)


def _kind_of(names: set[str]) -> Literal["head", "dnabert_s", "esm2"] | Why:
    def any_has(*words: str) -> bool:
        return any(word in name for name in names for word in words)

    if all(any(name.endswith(tensor) for name in names) for tensor in HEAD_TENSORS):
        return "head"
    if any_has("layernorm_qkv", "layernorm_mlp"):
        return "transformer_engine"
    if any_has("Wqkv", "gated_layers", "layers.0.gated.weight"):
        return "dnabert_s"
    if any_has("contact_head") and not any_has("layer"):
        return "contacts"
    if any_has("token_type_embeddings"):
        return "other_language_model"
    if any_has("self_attn.", "esm.", "emb_layer_norm_after", "attention.self.query", "layers.0.qkv.weight"):
        return "esm2"
    return "other_weights"


def _look_into_json(
    path: Path,
) -> tuple[Literal["index", "tokenizer", "config"] | None, dict[str, Any] | None]:
    try:
        content = read_small_json(path)
    except (OSError, ValueError):
        return None, None
    if isinstance(content, dict):
        if isinstance(content.get("weight_map"), dict):
            return "index", content
        if isinstance(content.get("model"), dict) and "vocab" in content["model"]:
            return "tokenizer", None
        if "hidden_size" in content or "num_attention_heads" in content:
            return "config", content
    return None, None


def _is_safetensors(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(9)[8:] == b"{"
