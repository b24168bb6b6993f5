"""Makes models from files on this computer, together with what was downloaded or imported earlier.

The published name of a file says what it is for. A file of another name, if it was named itself and not with
its folder, is the user's own classifier.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.encoders.tokens import DnaTokenizer
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError, unreadable
from virnucpro_backend.weights.formats.checkpoints import Checkpoint, open_checkpoint
from virnucpro_backend.weights.formats.convert import check_layout
from virnucpro_backend.weights.formats.names import read_head
from virnucpro_backend.weights.formats.pickles import limited_reading
from virnucpro_backend.weights.install import (
    ENCODER_NAMES,
    ENCODERS,
    SHARED,
    Encoder,
    Report,
    add_encoder,
    changing,
    check_fit,
    check_name,
    find_encoder,
    need_room,
    read_encoder,
    write_model,
)
from virnucpro_backend.weights.manifest import PublishedModel, git_blob_id
from virnucpro_backend.weights.model_json import read_model_json

Manifest = Mapping[str, PublishedModel]

MOST_FILES = 1_000
WEIGHTS_SUFFIXES = frozenset({".bin", ".ckpt", ".pt", ".pth", ".safetensors"})


@dataclass(frozen=True)
class _GivenEncoder:
    path: Path
    checkpoint: Checkpoint
    config: Esm2Config | DnabertSConfig

    @property
    def sizes(self) -> Mapping[str, int]:
        return vars(self.config)


@dataclass(frozen=True)
class _GivenHead:
    """A classifier. `model`: the published model that it belongs to."""

    path: Path
    checkpoint: Checkpoint
    model: PublishedModel | None


def import_models(
    paths: list[Path],
    weights: Path,
    manifest: Manifest,
    report: Report,
    *,
    name: str | None = None,
    chunk_length: int | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> list[Path]:
    """Convert the encoders among files and folders, and make a model from each classifier: a published one if
    all its files are the published ones, else one with this name and chunk length (in bases; the classifier
    must have been trained with it). `on_file` is called before a file is read.

    Returns the folders; none if there are only encoders, which are then kept for a later classifier.
    Everything is checked before anything is converted. Raises WeightsError and OSError.
    """
    given = _by_role(paths, manifest)
    new = {role: _given_encoder(role, given[role], on_file) for role in ENCODERS if given[role]}
    heads = [_GivenHead(path, _open(path, on_file), _model_of(path, manifest)) for path in given["head"]]
    if name is not None and len(heads) > 1:
        raise _refused("There are several classifiers, and only one name.", "Import one after the other.")
    for head in heads:
        if name is not None or head.model is None:
            check_name(name or head.path.stem)
        if chunk_length is None and head.model is None:
            raise _refused(
                f"Nothing says with which chunk length {head.path.name} was trained.",
                "Give the chunk length, such as 500.",
            )
    with changing(weights):
        shared = weights / SHARED
        shared.mkdir(exist_ok=True)
        here = {role: new.get(role) or _encoder_here(role, weights, manifest) for role in ENCODERS}
        tokenizer = _tokenizer(given["tokenizer"], here["dnabert_s"], weights)
        for head in heads:
            _check(head, here, tokenizer)
        need_room(weights, sum(encoder.path.stat().st_size for encoder in new.values()))
        for role, encoder in new.items():
            report.progress(f"Checking {ENCODER_NAMES[role]}", 0, None)
            sha256 = sha256_of_file(encoder.path)
            known = find_encoder(shared, role, sha256, recheck=True)
            here[role] = known or add_encoder(shared, role, sha256, encoder.checkpoint, report)
        # What `_check` has found is here, and converted by now.
        encoders, found = cast(dict[str, Encoder], here), cast(Path, tokenizer)
        return [
            _make(head, encoders, found, weights, manifest, name=name, chunk_length=chunk_length)
            for head in heads
        ]


def _by_role(paths: list[Path], manifest: Manifest) -> defaultdict[str, list[Path]]:
    """Sort the files by what they are for. Raises WeightsError for what holds no weights."""
    roles: defaultdict[str, list[Path]] = defaultdict(list)
    for path in paths:
        if path.is_dir():
            found = [(role, file) for file in _files_in(path) if (role := _published_role(file, manifest))]
            if not found:
                raise _refused(
                    f"None of the files in {path} has the name of a published one.",
                    "Choose a folder with ESM-2, DNABERT-S or a classifier of VirNucPro, or your own "
                    "classifier itself.",
                )
        elif path.is_file():
            known = _published_role(path, manifest)
            if known is None and path.suffix.lower() not in WEIGHTS_SUFFIXES:
                raise _refused(f"{path} holds no weights.", "Choose only weights, or their folder.")
            found = [(known or "head", path)]
        else:
            raise WeightsError("model_missing", f"{path} is not there.", "Check the path.")
        for role, file in found:
            if file not in roles[role]:
                roles[role].append(file)
    return roles


def _published_role(path: Path, manifest: Manifest) -> str | None:
    files = (file for model in manifest.values() for file in model.files)
    return next((file.role for file in files if file.name == path.name), None)


def _files_in(folder: Path) -> Iterator[Path]:
    count = 0
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        count += len(names)
        if count > MOST_FILES:
            raise _refused(
                f"There are more than {MOST_FILES} files below {folder}.",
                "Choose the folder that holds the weights.",
            )
        # Opening a pipe would block.
        yield from (path for name in sorted(names) if (path := Path(inner) / name).is_file())


def _given_encoder(role: str, files: list[Path], on_file: Callable[[Path], None]) -> _GivenEncoder:
    if len(files) > 1:
        raise _refused(
            f"{ENCODER_NAMES[role]} is there twice: in {files[0].parent} and in {files[1].parent}.",
            "Choose one of them.",
        )
    checkpoint = _open(files[0], on_file)
    return _GivenEncoder(files[0], checkpoint, check_layout(role, checkpoint))


def _open(path: Path, on_file: Callable[[Path], None]) -> Checkpoint:
    on_file(path)
    with limited_reading(path):
        return open_checkpoint(path)


def _check(
    head: _GivenHead, encoders: Mapping[str, _GivenEncoder | Encoder | None], tokenizer: Path | None
) -> None:
    """Raise WeightsError unless everything is there for a classifier, and fits."""
    esm2, dnabert_s = encoders["esm2"], encoders["dnabert_s"]
    if esm2 is None or dnabert_s is None or tokenizer is None:
        there = {"ESM-2": esm2, "DNABERT-S": dnabert_s, "tokenizer.json": tokenizer}
        missing = [part for part, found in there.items() if found is None]
        raise WeightsError(
            "model_missing",
            f"To make a model of {head.path.name}, {' and '.join(missing)} must be there, too: neither these "
            "files have it, nor this computer.",
            "Add what is missing under its published name, or get a published model, whose encoders then "
            "serve this classifier as well.",
        )
    check_fit(head.path.name, read_head(head.checkpoint).inputs, esm2.sizes, dnabert_s.sizes)
    try:
        tokens = DnaTokenizer(tokenizer).vocabulary
    except Exception as error:  # the tokenizers library raises nothing more precise
        raise unreadable(tokenizer.name, str(error)) from error
    if tokens > dnabert_s.sizes["vocabulary"]:
        raise unreadable(tokenizer.name, f"it has {tokens} tokens, more than the DNABERT-S")


def _make(
    head: _GivenHead,
    encoders: Mapping[str, Encoder],
    tokenizer: Path,
    weights: Path,
    manifest: Manifest,
    *,
    name: str | None,
    chunk_length: int | None,
) -> Path:
    for published in manifest.values():
        file = published.file("tokenizer")
        # Any other tokenizer would give other tokens and silently wrong scores.
        if _is_published(encoders["dnabert_s"], published) and sha256_of_file(tokenizer) != file.sha256:
            raise WeightsError(
                "model_damaged",
                f"{tokenizer} is not the tokenizer that was published with this DNABERT-S.",
                f"Take {file.name} from {file.source}.",
            )
    model = head.model
    if model and name is None and all(_is_published(encoders[role], model) for role in ENCODERS):
        name, title, length, bands = model.name, model.title, model.chunk_length, model.norm_bands
    else:
        name = title = name or head.path.stem
        if name in manifest or (weights / name).exists():
            raise _refused(f"There is a model {name} already.", "Choose another name.")
        length, bands = cast(int, chunk_length or (model and model.chunk_length)), None
    return write_model(
        weights,
        name,
        encoders,
        tokenizer,
        head.checkpoint,
        title=title,
        chunk_length=length,
        norm_bands=bands,
    )


def _model_of(head: Path, manifest: Manifest) -> PublishedModel | None:
    blob = git_blob_id(head)
    return next((model for model in manifest.values() if model.file("head").git_blob == blob), None)


def _encoder_here(role: str, weights: Path, manifest: Manifest) -> Encoder | None:
    """Find an encoder on this computer, preferably the published one."""
    notes = sorted((weights / SHARED).glob(f"{role}-*.json"))
    here = [encoder for note in notes if (encoder := read_encoder(note))]

    def is_other(encoder: Encoder) -> bool:
        return not any(_is_published(encoder, model) for model in manifest.values())

    return min(here, key=is_other, default=None)


def _is_published(encoder: Encoder, model: PublishedModel) -> bool:
    sha256 = model.file(encoder.role).sha256
    return sha256 is not None and f"{encoder.role}-{sha256[:12]}." in encoder.file.path


def _tokenizer(given: list[Path], dnabert_s: _GivenEncoder | Encoder | None, weights: Path) -> Path | None:
    """Use the tokenizer among the files, else that of an installed model with the same DNABERT-S."""
    if isinstance(dnabert_s, _GivenEncoder):
        folder = dnabert_s.path.parent
        return min(given, key=lambda path: path.parent != folder, default=None)
    for description in sorted(weights.glob("*/model.json")) if dnabert_s and not given else []:
        try:
            model = read_model_json(description.parent)
        except WeightsError:
            continue
        path = description.parent / model.files["tokenizer"].path
        if dnabert_s and model.files["dnabert_s"].sha256 == dnabert_s.file.sha256 and path.is_file():
            return path
    return next(iter(given), None)


def _refused(message: str, next_step: str) -> WeightsError:
    return WeightsError("import_refused", message, next_step)
