"""`resources/models.json`: the published weights, where they are, and which of them make a model.

It has sizes and SHA-256s where they are known for certain. Elsewhere the file is taken as it comes, and what
came is recorded in the model's own `model.json`.
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
    """`role`: a role of `model.json`, or `dnabert_s_config`. `source`: a page for people. `about`: bytes,
    where `size` isn't known for certain. `git_blob`: the id that git gives the file's content."""

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
        """How large it is, for a sum or a bar."""
        return self.size or self.about


@dataclass(frozen=True)
class PublishedModel:
    """A model that can be downloaded, by the name users give it, such as 500."""

    name: str
    title: str
    chunk_length: int
    files: tuple[PublishedFile, ...]
    norm_bands: Mapping[str, NormBand]

    def file(self, role: str) -> PublishedFile:
        """The file of a role that every model has."""
        return next(file for file in self.files if file.role == role)


class _Model(msgspec.Struct):
    title: str
    chunk_length: int
    files: list[str]
    norm_bands: dict[str, tuple[float, float]]


class _Manifest(msgspec.Struct):
    files: dict[str, PublishedFile]
    models: dict[str, _Model]


def read_manifest(path: Path) -> dict[str, PublishedModel]:
    """The models of a manifest by name. It ships with the program: a fault in it is a bug, and raises."""
    content = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    return {
        name: PublishedModel(
            name,
            model.title,
            model.chunk_length,
            tuple(content.files[key] for key in model.files),
            {role: NormBand(*band) for role, band in model.norm_bands.items()},
        )
        for name, model in content.models.items()
    }


def published_model(manifest: Mapping[str, PublishedModel], name: str) -> PublishedModel:
    """The model of this name. Raises WeightsError (`model_unknown`)."""
    if name not in manifest:
        raise WeightsError(
            "model_unknown", f"There is no published model {name}.", f"Choose one of {', '.join(manifest)}."
        )
    return manifest[name]


def published_sizes(manifest: Mapping[str, PublishedModel]) -> dict[str, int]:
    """About how many bytes a published file of a name has."""
    return {file.name: file.bytes_about for model in manifest.values() for file in model.files}


def git_blob_id(path: Path) -> str:
    """What `git hash-object` says of a file: 40 hexadecimal digits. Raises OSError."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
