"""Makes models from files on this computer, together with what was downloaded or imported
earlier."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.formats.recognise import Found, FoundEncoder, FoundHead, check_tokenizer
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
from virnucpro_backend.weights.manifest import PublishedFile, PublishedModel, git_blob_id
from virnucpro_backend.weights.model_json import read_model_json

Manifest = Mapping[str, PublishedModel]


@dataclass(frozen=True)
class PossibleModel:
    """A model that a classifier could make. `published`: the published model that it belongs to. `missing`:
    what is neither among the files nor on this computer. `problem`: a sentence why it cannot be made."""

    head: Path
    name: str
    chunk_length: int | None
    published: str | None
    missing: tuple[str, ...]
    problem: str | None


def possible_models(found: Found, weights: Path, manifest: Manifest) -> list[PossibleModel]:
    """Return one for each classifier found. Raises OSError."""
    models = []
    for head in found.heads:
        encoders, missing = _encoders_for(head, found, weights, manifest)
        problem = None
        try:
            _check_all(head, encoders, found, weights)
        except WeightsError as error:
            problem = error.message
        published = published_head(head.path, manifest)
        length = manifest[published].chunk_length if published else _length_in_name(head.path)
        models.append(
            PossibleModel(
                head.path, published or _name_of(head.path), length, published, tuple(missing), problem
            )
        )
    return models


def import_models(
    found: Found,
    weights: Path,
    manifest: Manifest,
    report: Report,
    *,
    name: str | None = None,
    chunk_length: int | None = None,
) -> list[Path]:
    """Convert what was found, and make a model from each classifier: a published one if all its files are the
    published ones, else one with this name and chunk length (in bases; the classifier must have been trained
    with it).

    Returns the folders; none if only encoders were found, which are then kept for a later classifier.
    Everything is checked before anything is converted. Raises WeightsError and OSError.
    """
    if not found.heads and (found.broken or not found.encoders):
        raise WeightsError(
            "model_damaged",
            " ".join(found.problems)
            or (
                "There is no classifier among these files."
                if found.encoders
                else "None of these files holds weights."
            ),
            "Choose ESM-2, DNABERT-S with its tokenizer.json, or a classifier of VirNucPro.",
        )
    if name is not None and len(found.heads) > 1:
        raise WeightsError(
            "import_refused",
            "There are several classifiers among these files, and only one name.",
            "Import them one after the other, or leave out the name.",
        )
    with changing(weights):
        shared = weights / SHARED
        shared.mkdir(exist_ok=True)
        for head in found.heads:
            _check_whole(head, found, weights, manifest)
        new = dict(found.encoders)
        need_room(weights, sum(encoder.size for encoder in new.values()))
        hashes, here = {}, {}
        for role, encoder in new.items():
            report.progress(f"Checking {ENCODER_NAMES[role]}", 0, None)
            hashes[role] = encoder.sha256()
            known = find_encoder(shared, role, hashes[role], recheck=True)
            here[role] = known or add_encoder(shared, role, hashes[role], encoder.checkpoint, report)
        return [
            _make(head, found, here, hashes, weights, manifest, name=name, chunk_length=chunk_length)
            for head in found.heads
        ]


def published_head(path: Path, manifest: Manifest) -> str | None:
    """Name the published model whose classifier this file is, by its git blob id. Raises OSError."""
    blob = git_blob_id(path)
    return next((name for name, model in manifest.items() if model.file("head").git_blob == blob), None)


def _make(
    head: FoundHead,
    found: Found,
    here: Mapping[str, Encoder],
    hashes: Mapping[str, str],
    weights: Path,
    manifest: Manifest,
    *,
    name: str | None,
    chunk_length: int | None,
) -> Path:
    encoders = {}
    for role in ENCODERS:
        encoder = here.get(role) or _encoder_here(role, head, found, weights, manifest)
        if encoder is None:
            raise _missing(head, [ENCODER_NAMES[role]])
        encoders[role] = encoder
    tokenizer = _tokenizer(found, weights, encoders["dnabert_s"])
    if tokenizer is None:
        raise _missing(head, ["tokenizer.json"])
    for published in manifest.values():
        if _is_published(encoders["dnabert_s"], published):
            _check_published_tokenizer(tokenizer, published.file("tokenizer"))
    number = published_head(head.path, manifest)
    model = manifest[number] if number else None
    if model and name is None and all(_is_published(encoders[role], model) for role in ENCODERS):
        name, title, length, bands = model.name, model.title, model.chunk_length, model.norm_bands
    else:
        given = chunk_length or (model.chunk_length if model else _length_in_name(head.path))
        if given is None:
            raise WeightsError(
                "import_refused",
                f"Nothing says with which chunk length {head.path.name} was trained.",
                "Give the chunk length, such as 500.",
            )
        name, length, bands = name or _free_name(weights, _name_of(head.path)), given, None
        title = name
        if name in manifest or (weights / name).exists():
            raise WeightsError("import_refused", f"There is a model {name} already.", "Choose another name.")
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


def _check_published_tokenizer(tokenizer: Path, published: PublishedFile) -> None:
    """Refuse any other tokenizer, which would give other tokens and silently wrong scores."""
    if sha256_of_file(tokenizer) != published.sha256:
        raise WeightsError(
            "model_damaged",
            f"{tokenizer} is not the tokenizer that was published with this DNABERT-S.",
            f"Take {published.name} from {published.source}.",
        )


def _check_whole(head: FoundHead, found: Found, weights: Path, manifest: Manifest) -> None:
    encoders, missing = _encoders_for(head, found, weights, manifest)
    if missing:
        raise _missing(head, missing, found.problems)
    _check_all(head, encoders, found, weights)


def _check_all(
    head: FoundHead,
    encoders: Mapping[str, FoundEncoder | Encoder | None],
    found: Found,
    weights: Path,
) -> None:
    esm2, dnabert_s = encoders["esm2"], encoders["dnabert_s"]
    if esm2 and dnabert_s:
        check_fit(head.path.name, head.inputs, _sizes(esm2), _sizes(dnabert_s))
    if dnabert_s:
        tokenizer = _tokenizer(found, weights, dnabert_s)
        if tokenizer:
            check_tokenizer(tokenizer, _sizes(dnabert_s)["vocabulary"])


def _missing(head: FoundHead, what: list[str], problems: list[str] | None = None) -> WeightsError:
    return WeightsError(
        "model_missing",
        f"To make a model of {head.path.name}, {' and '.join(what)} must be there, too: neither these "
        "files have it, nor "
        f"this computer. {' '.join(problems or [])}".strip(),
        "Add what is missing, or get a published model, whose encoders then serve this classifier as well.",
    )


def _encoders_for(
    head: FoundHead, found: Found, weights: Path, manifest: Manifest
) -> tuple[dict[str, FoundEncoder | Encoder | None], list[str]]:
    """Find the encoders of a classifier among the files or on this computer, and name what is missing."""
    encoders = {
        role: found.encoders.get(role) or _encoder_here(role, head, found, weights, manifest)
        for role in ENCODERS
    }
    missing = [ENCODER_NAMES[role] for role in reversed(ENCODERS) if encoders[role] is None]
    if _tokenizer(found, weights, encoders["dnabert_s"]) is None:
        missing.append("tokenizer.json")
    return encoders, missing


def _encoder_here(
    role: str, head: FoundHead, found: Found, weights: Path, manifest: Manifest
) -> Encoder | None:
    """Find an encoder on this computer that fits a classifier, preferably the published one."""
    other_role = ENCODERS[1 - ENCODERS.index(role)]
    here = _encoders_here(role, weights)
    other = found.encoders.get(other_role)
    widths = (
        [_sizes(other)["width"]] if other else [e.sizes["width"] for e in _encoders_here(other_role, weights)]
    )
    fitting = [encoder for encoder in here if any(encoder.sizes["width"] + w == head.inputs for w in widths)]

    def is_other(encoder: Encoder) -> bool:
        return not any(_is_published(encoder, model) for model in manifest.values())

    return min(fitting or here, key=is_other, default=None)


def _encoders_here(role: str, weights: Path) -> list[Encoder]:
    notes = sorted((weights / SHARED).glob(f"{role}-*.json"))
    return [encoder for note in notes if (encoder := read_encoder(note))]


def _is_published(encoder: Encoder, model: PublishedModel) -> bool:
    sha256 = model.file(encoder.role).sha256
    return sha256 is not None and f"{encoder.role}-{sha256[:12]}." in encoder.file.path


def _tokenizer(found: Found, weights: Path, dnabert_s: FoundEncoder | Encoder | None) -> Path | None:
    """Use the tokenizer among the files, else that of an installed model with the same DNABERT-S."""
    if found.tokenizer or not isinstance(dnabert_s, Encoder):
        return found.tokenizer
    for description in sorted(weights.glob("*/model.json")):
        try:
            model = read_model_json(description.parent)
        except WeightsError:
            continue
        path = description.parent / model.files["tokenizer"].path
        if model.files["dnabert_s"].sha256 == dnabert_s.file.sha256 and path.is_file():
            return path
    return None


def _sizes(encoder: FoundEncoder | Encoder) -> Mapping[str, int]:
    return encoder.sizes if isinstance(encoder, Encoder) else vars(encoder.config)


def _length_in_name(path: Path) -> int | None:
    numbers = [int(number) for number in re.findall(r"\d+", path.stem)]
    return next((number for number in numbers if 100 <= number <= 10_000), None)


def _name_of(path: Path) -> str:
    plain = re.sub(r"[^\w .+-]", "_", path.stem).strip(" .+-")[:50] or "model"
    try:
        check_name(plain)
    except WeightsError:
        return f"{plain} model"
    return plain


def _free_name(weights: Path, name: str) -> str:
    names = [name, *(f"{name} {number}" for number in range(2, 1000))]
    return next(free for free in names if not (weights / free).exists())
