"""`model.json`: what a folder of weights holds, with the hashes that its files must have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.weights.model_files import (
    ModelFile,
    hash_of_files,
    json_object,
    json_text,
    json_whole,
    model_files,
    read_description,
    wrong_description,
)

SCHEMA = 1
_FEWEST_BYTES = 2
"""Of a number in a file of weights."""


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
        return hash_of_files(self.files)


def read_model_json(folder: Path) -> ModelDescription:
    """Read and check `folder/model.json`. Raises WeightsError (`model_unknown`, `model_damaged`)."""
    content = read_description(folder)
    try:
        return _parse(content)
    except ValueError as error:
        raise wrong_description(folder / "model.json", str(error)) from error


def write_model_json(folder: Path, model: ModelDescription) -> None:
    """Write `folder/model.json`, whole or not at all."""
    content = {"schema": SCHEMA, **asdict(model)}
    if model.norm_bands is not None:
        content["norm_bands"] = {role: [band.low, band.high] for role, band in model.norm_bands.items()}
    temporary = folder / "model.json.tmp"
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(folder / "model.json")


def _parse(content: Any) -> ModelDescription:
    fields = json_object(content, "the file")
    if fields.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {fields.get('schema')!r}, this version reads {SCHEMA}")
    chunk_length = json_whole(fields, "chunk_length")
    bands = fields.get("norm_bands")
    model = ModelDescription(
        name=json_text(fields, "name"),
        title=json_text(fields, "title"),
        notice=None if fields.get("notice") is None else json_text(fields, "notice"),
        chunk_length=chunk_length,
        files=model_files(content),
        esm2=Esm2Config(**_sizes(fields, "esm2", ("layers", "width", "heads", "feed_forward"))),
        dnabert_s=DnabertSConfig(
            **_sizes(fields, "dnabert_s", ("layers", "width", "heads", "feed_forward", "vocabulary"))
        ),
        norm_bands=None if bands is None else _bands(json_object(bands, "norm_bands")),
    )
    # An encoder is built before its file is read, and takes memory for each layer.
    for role, numbers in (("esm2", model.esm2.fewest_numbers), ("dnabert_s", model.dnabert_s.fewest_numbers)):
        if numbers * _FEWEST_BYTES > model.files[role].size:
            raise ValueError(f"files.{role} is too small for an encoder of the size in {role}")
    return model


def _bands(fields: dict[str, Any]) -> dict[str, NormBand]:
    bands = {}
    for role in ("esm2", "dnabert_s"):
        band = fields.get(role)
        if not isinstance(band, list) or len(band) != 2 or not all(type(x) in (int, float) for x in band):
            raise ValueError(f"norm_bands.{role} must be two numbers")
        bands[role] = NormBand(float(band[0]), float(band[1]))
    return bands


def _sizes(fields: dict[str, Any], key: str, names: tuple[str, ...]) -> dict[str, int]:
    sizes = json_object(fields.get(key), key)
    return {name: json_whole(sizes, name) for name in names}
