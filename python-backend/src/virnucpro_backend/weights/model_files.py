"""Reads a model's files and hash without PyTorch, for callers that only find or send them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec

from virnucpro_backend.weights.errors import WeightsError

LARGEST_JSON = 8 << 20
"""In bytes; tokenizer.json has 0.2 MB, an index of shards less than 1 MB."""


@dataclass(frozen=True)
class ModelFile:
    """`path` is relative to the folder, with forward slashes; `../` may lead to a neighbouring folder."""

    path: str
    size: Annotated[int, msgspec.Meta(ge=1)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

    def __post_init__(self) -> None:
        path = PurePosixPath(self.path)
        if not self.path or path.is_absolute() or ".." in path.parts[1:] or {"\\", ":"} & set(self.path):
            raise ValueError("`path` must lead to a file in this folder or beside it")


class ModelFiles(msgspec.Struct, frozen=True):
    """The file of each role."""

    esm2: ModelFile
    dnabert_s: ModelFile
    tokenizer: ModelFile
    head: ModelFile

    def by_role(self) -> dict[str, ModelFile]:
        """Return the files as a mapping."""
        return {role: getattr(self, role) for role in ROLES}


ROLES = ModelFiles.__struct_fields__


class _WithFiles(msgspec.Struct):
    files: ModelFiles


def model_files(description: Any) -> dict[str, ModelFile]:
    """Return the files in a description, by role. Raises ValueError, which says what is wrong."""
    return msgspec.convert(description, _WithFiles).files.by_role()


def read_small_json(path: Path) -> Any:
    """Read a JSON file from an untrusted source.

    Raises ValueError, also if it is too large or nested too deeply, and OSError.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST_JSON + 1)
    if len(content) > LARGEST_JSON:
        raise ValueError(f"it has more than {LARGEST_JSON >> 20} MB")
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def hash_of_files(files: Mapping[str, ModelFile]) -> str:
    """SHA-256 over the roles and SHA-256s of a model's files: 64 hexadecimal digits."""
    lines = "".join(f"{role} {files[role].sha256}\n" for role in ROLES)
    return hashlib.sha256(lines.encode()).hexdigest()


def read_description(folder: Path) -> Any:
    """Read `folder/model.json` without checks. Raises WeightsError (`model_unknown`, `model_damaged`)."""
    path = folder / "model.json"
    try:
        return read_small_json(path)
    except OSError as error:
        raise WeightsError(
            "model_unknown",
            f"{folder} is not a model: there is no model.json in it.",
            path=str(path),
        ) from error
    except ValueError as error:
        raise wrong_description(path, "it is not JSON") from error


def wrong_description(path: Path, why: str) -> WeightsError:
    """Make the error for a model.json that does not describe a model."""
    return WeightsError("model_damaged", f"{path} is not as it should be: {why}.", path=str(path))
