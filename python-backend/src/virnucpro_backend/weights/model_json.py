"""`model.json`: what a folder of weights holds, with the hashes that its files must have."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.weights.errors import WeightsError

SCHEMA = 1
ROLES = ("esm2", "dnabert_s", "tokenizer", "head")


@dataclass(frozen=True)
class ModelFile:
    """`path` is relative to the folder, with forward slashes; `../` may lead to a folder beside it."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class NormBand:
    """Lowest and highest Euclidean norm that an embedding of this model is expected to have."""

    low: float
    high: float


@dataclass(frozen=True)
class ModelDescription:
    """The content of `model.json`. `notice` is shown wherever results are; `norm_bands` has the keys
    `esm2` and `dnabert_s`, or is None where nothing is known."""

    name: str
    title: str
    notice: str | None
    chunk_length: int
    files: Mapping[str, ModelFile]
    esm2: Esm2Config
    dnabert_s: DnabertSConfig
    norm_bands: Mapping[str, NormBand] | None

    @property
    def model_hash(self) -> str:
        """SHA-256 over the roles and SHA-256s of the files: 64 hexadecimal digits."""
        lines = "".join(f"{role} {self.files[role].sha256}\n" for role in ROLES)
        return hashlib.sha256(lines.encode()).hexdigest()


def read_model_json(folder: Path) -> ModelDescription:
    """Read and check `folder/model.json`. Raises WeightsError (`model_unknown`, `model_damaged`)."""
    path = folder / "model.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsError(
            "model_unknown",
            f"{folder} is not a model: there is no model.json in it.",
            "Choose another folder.",
        ) from error
    except ValueError as error:
        raise _wrong(path, "it is not JSON") from error
    try:
        return _parse(content)
    except ValueError as error:
        raise _wrong(path, str(error)) from error


def write_model_json(folder: Path, model: ModelDescription) -> None:
    """Write `folder/model.json`, whole or not at all."""
    content = {"schema": SCHEMA, **asdict(model)}
    if model.norm_bands is not None:
        content["norm_bands"] = {role: [band.low, band.high] for role, band in model.norm_bands.items()}
    temporary = folder / "model.json.tmp"
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(folder / "model.json")


def _parse(content: Any) -> ModelDescription:
    fields = _object(content, "the file")
    if fields.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {fields.get('schema')!r}, this version reads {SCHEMA}")
    chunk_length = _whole(fields, "chunk_length")
    files = _object(fields.get("files"), "files")
    bands = fields.get("norm_bands")
    return ModelDescription(
        name=_text(fields, "name"),
        title=_text(fields, "title"),
        notice=None if fields.get("notice") is None else _text(fields, "notice"),
        chunk_length=chunk_length,
        files={role: _file(_object(files.get(role), f"files.{role}"), role) for role in ROLES},
        esm2=Esm2Config(**_sizes(fields, "esm2", ("layers", "width", "heads", "feed_forward"))),
        dnabert_s=DnabertSConfig(
            **_sizes(fields, "dnabert_s", ("layers", "width", "heads", "feed_forward", "vocabulary"))
        ),
        norm_bands=None if bands is None else _bands(_object(bands, "norm_bands")),
    )


def _file(fields: dict[str, Any], role: str) -> ModelFile:
    path = PurePosixPath(_text(fields, "path"))
    if path.is_absolute() or ".." in path.parts[1:] or "\\" in str(path) or ":" in str(path):
        raise ValueError(f"files.{role}.path must lead to a file in this folder or beside it")
    sha256 = _text(fields, "sha256")
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ValueError(f"files.{role}.sha256 is not 64 hexadecimal digits")
    return ModelFile(str(path), _whole(fields, "size"), sha256)


def _bands(fields: dict[str, Any]) -> dict[str, NormBand]:
    bands = {}
    for role in ("esm2", "dnabert_s"):
        band = fields.get(role)
        if not isinstance(band, list) or len(band) != 2 or not all(type(x) in (int, float) for x in band):
            raise ValueError(f"norm_bands.{role} must be two numbers")
        bands[role] = NormBand(float(band[0]), float(band[1]))
    return bands


def _sizes(fields: dict[str, Any], key: str, names: tuple[str, ...]) -> dict[str, int]:
    sizes = _object(fields.get(key), key)
    return {name: _whole(sizes, name) for name in names}


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is missing or not an object")
    return value


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} is missing or not a text")
    return value


def _whole(fields: dict[str, Any], key: str) -> int:
    value = fields.get(key)
    if type(value) is not int or value < 1:
        raise ValueError(f"{key} is missing or not a positive whole number")
    return value


def _wrong(path: Path, why: str) -> WeightsError:
    return WeightsError("model_damaged", f"{path} is not as it should be: {why}.", "Get the weights again.")
