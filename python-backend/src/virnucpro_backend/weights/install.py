"""Makes a model folder out of published files: converted once, encoders shared between models.

WEIGHTS/shared/esm2-7de8b4082ba1.safetensors    converted, named after the SHA-256 of its source
WEIGHTS/500/model.json, head.safetensors
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.convert import convert_dnabert_s, convert_esm2, convert_head
from virnucpro_backend.weights.download import download
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.manifest import PublishedModel
from virnucpro_backend.weights.model_json import (
    ROLES,
    ModelDescription,
    ModelFile,
    NormBand,
    write_model_json,
)

SHARED = "shared"
DOWNLOADS = "downloads"

Report = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done and how much there is; 0 and None where unknown."""


@dataclass(frozen=True)
class SourceFile:
    """A published file on this computer; `sha256` where it is known already."""

    path: Path
    sha256: str | None = None


def get_model(model: PublishedModel, weights: Path, report: Report) -> Path:
    """Download, check and convert a published model; returns its folder.

    Downloads go on where they stopped, and are deleted once they are converted. Raises WeightsError, OSError.
    """
    downloads = weights / DOWNLOADS
    sources = {}
    for file in model.files:
        # Each source has its folder, because config.json belongs to the weights that lie beside it.
        target = downloads / ("head" if file.role == "head" else file.role.split("_config")[0]) / file.name
        step = f"download {file.name}"
        sha256 = download(
            file.url,
            target,
            size=file.size,
            sha256=file.sha256,
            progress=lambda done, total, step=step: report(step, done, total),  # type: ignore[misc]
        )
        sources[file.role] = SourceFile(target, sha256)
    folder = install_model(
        weights,
        model.name,
        {role: sources[role] for role in ROLES},
        title=model.title,
        notice=None,
        chunk_length=model.chunk_length,
        norm_bands=model.norm_bands,
        report=report,
    )
    shutil.rmtree(downloads)
    return folder


def install_model(
    weights: Path,
    name: str,
    sources: Mapping[str, SourceFile],
    *,
    title: str,
    notice: str | None,
    chunk_length: int,
    norm_bands: Mapping[str, NormBand] | None,
    report: Report,
) -> Path:
    """Convert `sources` (one file per role of `model.json`) and write the model folder `weights/name`.

    What was converted before, for this or another model, is used again. Raises WeightsError, OSError.
    """
    if Path(name).name != name or name in ("", "..", SHARED, DOWNLOADS):
        raise WeightsError("model_unknown", f"{name!r} cannot be a model's name.", "Choose a plain name.")
    folder, shared = weights / name, weights / SHARED
    folder.mkdir(parents=True, exist_ok=True)
    shared.mkdir(exist_ok=True)

    report("convert the ESM-2", 0, None)
    esm2, esm2_sizes = _shared_encoder(shared, "esm2", sources["esm2"], convert_esm2)
    report("convert the DNABERT-S", 0, None)
    dnabert_s, dnabert_s_sizes = _shared_encoder(shared, "dnabert_s", sources["dnabert_s"], convert_dnabert_s)
    report("convert the classifier", 0, None)
    _, head = convert_head(sources["head"].path, folder / "head.safetensors")
    tokenizer = folder / "tokenizer.json"
    if sources["tokenizer"].path.resolve() != tokenizer.resolve():
        shutil.copyfile(sources["tokenizer"].path, tokenizer)

    model = ModelDescription(
        name=name,
        title=title,
        notice=notice,
        chunk_length=chunk_length,
        files={
            "esm2": esm2,
            "dnabert_s": dnabert_s,
            "tokenizer": ModelFile(tokenizer.name, tokenizer.stat().st_size, sha256_of_file(tokenizer)),
            "head": ModelFile("head.safetensors", head.size, head.sha256),
        },
        esm2=Esm2Config(**esm2_sizes),
        dnabert_s=DnabertSConfig(**dnabert_s_sizes),
        norm_bands=norm_bands,
    )
    write_model_json(folder, model)
    return folder


def _shared_encoder(
    shared: Path, role: str, source: SourceFile, convert: Callable[[Path, Path], tuple[Any, Any]]
) -> tuple[ModelFile, dict[str, int]]:
    """The converted encoder in `shared` and its sizes; made unless it is there, with the note about it."""
    sha256 = source.sha256 or source_sha256(source.path)
    target = shared / f"{role}-{sha256[:12]}.safetensors"
    note = target.with_suffix(".json")
    if not (target.is_file() and note.is_file()):
        config, written = convert(source.path, target)
        content = {"size": written.size, "sha256": written.sha256, "sizes": asdict(config)}
        temporary = note.with_suffix(".json.tmp")
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        os.replace(temporary, note)
    known = json.loads(note.read_text(encoding="utf-8"))
    return ModelFile(f"../{SHARED}/{target.name}", known["size"], known["sha256"]), known["sizes"]


def source_sha256(path: Path) -> str:
    """SHA-256 of a file; of the index of several files, over the SHA-256 of each.

    Raises WeightsError `model_missing` for a file that is not there.
    """
    if not path.is_file():
        raise WeightsError("model_missing", f"{path} is missing.", "Check the path.")
    if not path.name.endswith(".index.json"):
        return sha256_of_file(path)
    names = sorted(set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()))
    return hashlib.sha256(
        "".join(sha256_of_file(path.with_name(name)) for name in names).encode()
    ).hexdigest()
