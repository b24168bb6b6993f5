"""Makes model folders; encoders are converted once and shared between models.

WEIGHTS/shared/esm2-7de8b4082ba1.safetensors    converted, named after the SHA-256 of its source
WEIGHTS/shared/esm2-7de8b4082ba1.json           size and SHA-256 of the converted file, sizes of the encoder
WEIGHTS/500/model.json, head.safetensors, tokenizer.json
WEIGHTS/downloads/ROLE/                         downloads in progress; deleted after conversion
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.download import address, download, not_published, part_of
from virnucpro_backend.weights.errors import WeightsError, unreadable
from virnucpro_backend.weights.formats.checkpoints import Checkpoint, open_checkpoint
from virnucpro_backend.weights.formats.convert import convert_encoder, convert_head
from virnucpro_backend.weights.formats.names import read_head
from virnucpro_backend.weights.manifest import PublishedFile, PublishedModel, git_blob_id
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, NormBand, write_model_json
from virnucpro_backend.weights.verified import verify_file

SHARED = "shared"
DOWNLOADS = "downloads"
ENCODERS = ("dnabert_s", "esm2")
"""The small one comes first, so that errors show before gigabytes are downloaded."""
ENCODER_NAMES = {"esm2": "ESM-2", "dnabert_s": "DNABERT-S"}
DISK_MARGIN = 200_000_000
"""Bytes to leave free on the disk."""

_NAME = re.compile(r"\w[\w .+-]{0,59}")
_RESERVED = ("teaching", SHARED, DOWNLOADS)


class Report(Protocol):
    """Receives progress."""

    def progress(self, step: str, done: int, total: int | None) -> None:
        """Report the bytes done of all bytes to download or read; 0 and None if unknown."""

    def note(self, text: str) -> None:
        """Report a sentence about the cause of a wait."""


@dataclass(frozen=True)
class Encoder:
    """A converted encoder in the shared folder. `sizes`: the fields of its configuration."""

    role: str
    file: ModelFile
    sizes: Mapping[str, int]


def get_model(model: PublishedModel, weights: Path, report: Report, *, mirror: str | None = None) -> Path:
    """Download, check and convert a published model; return its folder.

    Existing files are neither downloaded nor converted again; downloads continue where they stopped. Raises
    WeightsError and OSError.
    """
    with changing(weights):
        folder, shared, downloads = weights / model.name, weights / SHARED, weights / DOWNLOADS
        shared.mkdir(exist_ok=True)
        # Users repair a damaged model by getting it again.
        recheck = (folder / "model.json").exists()
        encoders = {}
        for role in ENCODERS:
            sha256 = model.file(role).sha256
            found = find_encoder(shared, role, sha256, recheck=recheck) if sha256 else None
            if found:
                encoders[role] = found
        wanted = [file for file in model.files if file.role.removesuffix("_config") not in encoders]
        sources = {file.role: address(file.url, file.name, mirror) for file in wanted}
        check_disk_space(weights, [file for file in wanted if file.role in ENCODERS])
        fetch = _Fetching(downloads, wanted, sources, report)

        head = open_checkpoint(fetch("head"))
        read_head(head)  # before gigabytes are downloaded
        tokenizer = fetch("tokenizer")
        for role in ENCODERS:
            if role in encoders:
                continue
            if f"{role}_config" in sources:
                fetch(f"{role}_config")
            path = fetch(role)
            sha256 = model.file(role).sha256 or sha256_of_file(path)
            encoders[role] = add_encoder(shared, role, sha256, open_checkpoint(path), report)
            shutil.rmtree(path.parent)
        report.progress("Finishing", 0, None)
        write_model(
            weights,
            model.name,
            encoders,
            tokenizer,
            head,
            title=model.title,
            chunk_length=model.chunk_length,
            norm_bands=model.norm_bands,
        )
        shutil.rmtree(downloads)
        return folder


class _Fetching:
    """Downloads a model's files one after the other, and reports them as one download."""

    def __init__(
        self, downloads: Path, files: list[PublishedFile], sources: Mapping[str, str], report: Report
    ) -> None:
        self._downloads, self._sources, self._report = downloads, sources, report
        self._files = {file.role: file for file in files}
        self._total = sum(file.bytes_about for file in files)
        self._before = 0

    def __call__(self, role: str) -> Path:
        """Download the file of a role. Raises WeightsError and OSError."""
        file = self._files[role]
        # Each source has its own folder, because config.json belongs to the weights beside it.
        target = self._downloads / role.removesuffix("_config") / file.name

        def progress(done: int, total: int | None) -> None:
            self._report.progress(
                f"Downloading {file.name}", min(self._before + done, self._total), self._total
            )

        download(
            self._sources[role],
            target,
            size=file.size if file.sha256 else None,
            sha256=file.sha256,
            progress=progress,
            waiting=self._report.note,
        )
        if file.git_blob and git_blob_id(target) != file.git_blob:
            target.unlink()
            raise not_published(self._sources[role], file.name, "git blob id")
        self._before += file.bytes_about
        return target


def check_disk_space(weights: Path, encoders: list[PublishedFile]) -> None:
    """Raise WeightsError (`disk_full`) unless these files can be downloaded and converted. A converted file
    is as large as its source, which is deleted before the next one is converted."""
    sizes = [file.bytes_about for file in encoders]
    here = sum(_fetched_bytes(weights / DOWNLOADS / file.role / file.name) for file in encoders)
    need_room(weights, sum(sizes) - here + max(sizes, default=0))


def need_room(weights: Path, needed: int) -> None:
    """Raise WeightsError (`disk_full`) unless `needed` bytes are free."""
    if needed == 0:
        return
    free = shutil.disk_usage(weights).free - DISK_MARGIN
    if free < needed:
        raise WeightsError(
            "disk_full",
            f"This takes {_gigabytes(needed)} on the disk with {weights} while it is set up; "
            f"{_gigabytes(max(0, free))} are free.",
            f"Free {_gigabytes(needed - free)}, or choose a data folder on another disk under "
            "Settings, then try again.",
        )


def _fetched_bytes(target: Path) -> int:
    here = next((path for path in (target, part_of(target)) if path.is_file()), None)
    return here.stat().st_size if here else 0


def find_encoder(shared: Path, role: str, sha256: str, *, recheck: bool = False) -> Encoder | None:
    """Find the encoder converted from the file with this SHA-256; None if it is missing or, with `recheck`,
    damaged. Raises OSError."""
    return read_encoder(shared / f"{role}-{sha256[:12]}.json", recheck=recheck)


def read_encoder(note: Path, *, recheck: bool = False) -> Encoder | None:
    """Read the encoder that a note in the shared folder describes; see find_encoder."""
    target = note.with_suffix(".safetensors")
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        if target.stat().st_size != known["size"]:
            return None
        if recheck:
            verify_file(target, known["size"], known["sha256"], recompute=True)
    except (OSError, ValueError, KeyError, WeightsError):
        return None
    role = note.name.partition("-")[0]
    return Encoder(
        role, ModelFile(f"../{SHARED}/{target.name}", known["size"], known["sha256"]), known["sizes"]
    )


def add_encoder(shared: Path, role: str, sha256: str, source: Checkpoint, report: Report) -> Encoder:
    """Convert an encoder whose files have this SHA-256. Raises WeightsError and OSError."""
    report.progress(f"Converting {ENCODER_NAMES[role]}", 0, None)
    target = shared / f"{role}-{sha256[:12]}.safetensors"
    note = target.with_suffix(".json")
    config, written = convert_encoder(role, source, target)
    content = {"size": written.size, "sha256": written.sha256, "sizes": asdict(config)}
    temporary = note.with_suffix(".json.tmp")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, note)
    encoder = read_encoder(note)
    if encoder is None:
        raise unreadable(target.name, "it changed while it was written")
    return encoder


def check_name(name: str) -> None:
    """Raise WeightsError (`import_refused`) unless every system allows this name for a model's folder."""
    if not _NAME.fullmatch(name) or name.endswith((".", " ")) or name.lower() in _RESERVED:
        raise WeightsError(
            "import_refused",
            f"A model cannot be called {name!r}.",
            "Take letters, digits, spaces and - _ . +, at most 60.",
        )


def write_model(
    weights: Path,
    name: str,
    encoders: Mapping[str, Encoder],
    tokenizer: Path,
    head: Checkpoint,
    *,
    title: str,
    chunk_length: int,
    norm_bands: Mapping[str, NormBand] | None,
) -> Path:
    """Write the model folder `weights/name`; the encoders must exist already. Raises WeightsError and
    OSError."""
    check_name(name)
    folder = weights / name
    folder.mkdir(parents=True, exist_ok=True)
    loaded, written = convert_head(head, folder / "head.safetensors")
    check_fit(head.name, loaded.inputs, encoders["esm2"].sizes, encoders["dnabert_s"].sizes)
    own_tokenizer = folder / "tokenizer.json"
    if tokenizer.resolve() != own_tokenizer.resolve():
        shutil.copyfile(tokenizer, own_tokenizer)
    write_model_json(
        folder,
        ModelDescription(
            name=name,
            title=title,
            notice=None,
            chunk_length=chunk_length,
            files={
                "esm2": encoders["esm2"].file,
                "dnabert_s": encoders["dnabert_s"].file,
                "tokenizer": ModelFile(
                    own_tokenizer.name, own_tokenizer.stat().st_size, sha256_of_file(own_tokenizer)
                ),
                "head": ModelFile("head.safetensors", written.size, written.sha256),
            },
            esm2=Esm2Config(**encoders["esm2"].sizes),
            dnabert_s=DnabertSConfig(**encoders["dnabert_s"].sizes),
            norm_bands=norm_bands,
        ),
    )
    return folder


def check_fit(head: str, inputs: int, esm2: Mapping[str, int], dnabert_s: Mapping[str, int]) -> None:
    """Raise WeightsError (`model_damaged`) if a classifier was made for other encoders."""
    given = dnabert_s["width"] + esm2["width"]
    if inputs != given:
        raise WeightsError(
            "model_damaged",
            f"The classifier {head} takes {inputs} numbers, but these encoders give {dnabert_s['width']} + "
            f"{esm2['width']} = {given}: it was trained with other encoders.",
            "Import it together with the ESM-2 and the DNABERT-S that it was trained with.",
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{max(1, round(size / 1e6))} MB"


@contextmanager
def changing(weights: Path) -> Iterator[None]:
    """Hold the lock of a folder of weights; the system releases it when the process ends.

    Raises WeightsError (`busy`) and OSError.
    """
    weights.mkdir(parents=True, exist_ok=True)
    file = os.open(weights / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        try:
            take_lock(file)
        except OSError as error:
            raise WeightsError(
                "weights_busy",
                "Weights are being fetched or imported in another window or terminal.",
            ) from error
        yield
    finally:
        os.close(file)


def take_lock(file: int) -> None:
    """Lock an open file until it is closed. Raises OSError immediately if another process has the lock."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
