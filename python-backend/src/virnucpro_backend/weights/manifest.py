"""Reads `resources/models.json`: the published weights, their locations, and the models they form.

It has sizes and SHA-256s if they are known for certain. Other files are accepted as downloaded, and their
hashes are recorded in the model's own `model.json`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.model_json import NormBand


class PublishedFile(msgspec.Struct, frozen=True):
    """`role`: a role of `model.json`, or `dnabert_s_config`. `source`: a web page. `about`: approximate bytes
    if `size` isn't known for certain. `git_blob`: git's id of the file's content."""

    role: str
    name: str
    url: str
    source: str
    size: int | None = None
    sha256: str | None = None
    about: int = 0
    git_blob: str | None = None

    @property
    def bytes_about(self) -> int:
        """The size, possibly approximate, for totals and progress bars."""
        return self.size or self.about


@dataclass(frozen=True)
class PublishedModel:
    """A downloadable model, with the name that users know, such as 500."""

    name: str
    title: str
    chunk_length: int
    files: tuple[PublishedFile, ...]
    norm_bands: Mapping[str, NormBand]

    def file(self, role: str) -> PublishedFile:
        """Return the file of a role that every model has."""
        return next(file for file in self.files if file.role == role)


class _Model(msgspec.Struct):
    title: str
    chunk_length: int
    files: list[str]
    norm_bands: dict[str, NormBand]


class _Manifest(msgspec.Struct):
    files: dict[str, PublishedFile]
    models: dict[str, _Model]


def read_manifest(path: Path) -> dict[str, PublishedModel]:
    """Read the models of a manifest by name. It ships with the program, so a fault in it raises."""
    content = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    return {
        name: PublishedModel(
            name,
            model.title,
            model.chunk_length,
            tuple(content.files[key] for key in model.files),
            model.norm_bands,
        )
        for name, model in content.models.items()
    }


def published_model(manifest: Mapping[str, PublishedModel], name: str) -> PublishedModel:
    """Return the model of this name. Raises WeightsError (`model_unknown`)."""
    if name not in manifest:
        raise WeightsError(
            "model_unknown", f"There is no published model {name}.", f"Choose one of {', '.join(manifest)}."
        )
    return manifest[name]


def git_blob_id(path: Path) -> str:
    """Compute the result of `git hash-object`: 40 hexadecimal digits. Raises OSError."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
