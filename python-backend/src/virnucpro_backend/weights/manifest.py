"""`resources/models.json`: the published weights, where they are, and which of them make a model.

Sizes and SHA-256 stand there where they are known for certain. Where not, the file is taken as it comes,
and what came is recorded in the model's own `model.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.model_json import NormBand


@dataclass(frozen=True)
class PublishedFile:
    """`role`: a role of `model.json`, or `dnabert_s_config`. `source`: a page for people. `about`: bytes,
    where `size` isn't known for certain. `git_blob`: the id that git gives the file's content."""

    role: str
    name: str
    url: str
    source: str
    size: int | None
    sha256: str | None
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


def read_manifest(path: Path) -> dict[str, PublishedModel]:
    """The models of a manifest by name. The file ships with the program, so a fault in it is a bug and raises
    whatever it raises."""
    content = json.loads(path.read_text(encoding="utf-8"))
    files = {
        key: PublishedFile(
            entry["role"],
            entry["name"],
            entry["url"],
            entry["source"],
            entry.get("size"),
            entry.get("sha256"),
            entry.get("about", 0),
            entry.get("git_blob"),
        )
        for key, entry in content["files"].items()
    }
    return {
        name: PublishedModel(
            name,
            entry["title"],
            entry["chunk_length"],
            tuple(files[key] for key in entry["files"]),
            {role: NormBand(low, high) for role, (low, high) in entry["norm_bands"].items()},
        )
        for name, entry in content["models"].items()
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
