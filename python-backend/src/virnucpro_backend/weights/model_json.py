"""Reads and writes `model.json`, which describes a folder of weights and the hashes of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.weights.model_files import (
    ModelFile,
    ModelFiles,
    hash_of_files,
    read_description,
    wrong_description,
)

SCHEMA = 1
_FEWEST_BYTES = 2
"""The smallest size of a number in a file of weights."""


class NormBand(NamedTuple):
    """The expected range of the Euclidean norm of this model's embeddings."""

    low: float
    high: float


@dataclass(frozen=True)
class ModelDescription:
    """The content of `model.json`. `notice` is shown wherever results are shown; `norm_bands` has the keys
    `esm2` and `dnabert_s`, or is None if they are unknown."""

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
        return hash_of_files(self.files)


def read_model_json(folder: Path) -> ModelDescription:
    """Read and check `folder/model.json`. Raises WeightsError (`model_unknown`, `model_damaged`)."""
    content = read_description(folder)
    try:
        return _parse(content)
    except ValueError as error:
        raise wrong_description(folder / "model.json", str(error)) from error


def write_model_json(folder: Path, model: ModelDescription) -> None:
    """Write `folder/model.json` atomically."""
    temporary = folder / "model.json.tmp"
    temporary.write_text(json.dumps({"schema": SCHEMA, **asdict(model)}, indent=2) + "\n", encoding="utf-8")
    temporary.replace(folder / "model.json")


Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Bands(msgspec.Struct):
    esm2: NormBand
    dnabert_s: NormBand


class _Content(msgspec.Struct):
    schema: Literal[1]
    name: Text
    title: Text
    chunk_length: Annotated[int, msgspec.Meta(ge=1)]
    files: ModelFiles
    esm2: Esm2Config
    dnabert_s: DnabertSConfig
    notice: Text | None = None
    norm_bands: _Bands | None = None


def _parse(content: Any) -> ModelDescription:
    model = msgspec.convert(content, _Content)
    files = model.files.by_role()
    # Check sizes now, as an encoder is built before its file is read and takes memory for each layer.
    for role, numbers in (("esm2", model.esm2.fewest_numbers), ("dnabert_s", model.dnabert_s.fewest_numbers)):
        if numbers * _FEWEST_BYTES > files[role].size:
            raise ValueError(f"files.{role} is too small for an encoder of the size in {role}")
    return ModelDescription(
        name=model.name,
        title=model.title,
        notice=model.notice,
        chunk_length=model.chunk_length,
        files=files,
        esm2=model.esm2,
        dnabert_s=model.dnabert_s,
        norm_bands=None if model.norm_bands is None else msgspec.structs.asdict(model.norm_bands),
    )
