"""Which files a model has, and its hash: read without PyTorch, for callers that only find or send them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from virnucpro_backend.weights.errors import WeightsError

LARGEST_JSON = 8 << 20
"""Bytes; tokenizer.json has 0.2 MB, an index of shards less than 1 MB."""
ROLES = ("esm2", "dnabert_s", "tokenizer", "head")


@dataclass(frozen=True)
class ModelFile:
    """`path` is relative to the folder, with forward slashes; `../` may lead to a folder beside it."""

    path: str
    size: int
    sha256: str


def read_small_json(path: Path) -> Any:
    """The content of a JSON file that somebody else may have written.

    Raises ValueError, also where it is too large or nested too deeply, and OSError.
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
    """The JSON in `folder/model.json`, unchecked. Raises WeightsError (`model_unknown`, `model_damaged`)."""
    path = folder / "model.json"
    try:
        return read_small_json(path)
    except OSError as error:
        raise WeightsError(
            "model_unknown",
            f"{folder} is not a model: there is no model.json in it.",
            "Choose another folder.",
        ) from error
    except ValueError as error:
        raise wrong_description(path, "it is not JSON") from error


def model_files(description: Any) -> dict[str, ModelFile]:
    """The files in a description, by role. Raises ValueError, which says what is wrong with it."""
    files = json_object(json_object(description, "the file").get("files"), "files")
    return {role: _file(json_object(files.get(role), f"files.{role}"), role) for role in ROLES}


def json_object(value: Any, what: str) -> dict[str, Any]:
    """The value, if it is a JSON object; raises ValueError else."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is missing or not an object")
    return value


def json_text(fields: dict[str, Any], key: str) -> str:
    """A field that is a text, and not empty; raises ValueError else."""
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} is missing or not a text")
    return value


def json_whole(fields: dict[str, Any], key: str) -> int:
    """A field that is a positive whole number; raises ValueError else."""
    value = fields.get(key)
    if type(value) is not int or value < 1:
        raise ValueError(f"{key} is missing or not a positive whole number")
    return value


def wrong_description(path: Path, why: str) -> WeightsError:
    """The error for a model.json that isn't one."""
    return WeightsError("model_damaged", f"{path} is not as it should be: {why}.", "Get the weights again.")


def _file(fields: dict[str, Any], role: str) -> ModelFile:
    path = PurePosixPath(json_text(fields, "path"))
    if path.is_absolute() or ".." in path.parts[1:] or "\\" in str(path) or ":" in str(path):
        raise ValueError(f"files.{role}.path must lead to a file in this folder or beside it")
    sha256 = json_text(fields, "sha256")
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ValueError(f"files.{role}.sha256 is not 64 hexadecimal digits")
    return ModelFile(str(path), json_whole(fields, "size"), sha256)
