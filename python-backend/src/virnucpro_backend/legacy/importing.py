"""Checks the embeddings of a folder and stores the valid ones in a run, keyed by their letters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import BufferedWriter
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from virnucpro_backend.inference.imported import (
    ENCODERS,
    INDEX_FILE,
    EncoderName,
    sequence_key,
    vector_digest,
    vectors_path,
)
from virnucpro_backend.legacy.files import (
    LOST_SUFFIX,
    FloatRows,
    LegacyFile,
    RefusedFileError,
    read_legacy_file,
)
from virnucpro_backend.legacy.folder import LegacyFolder, Tool, look_through
from virnucpro_backend.legacy.frame_index import FrameIndex, SequenceKey
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.safetensors_file import make_real_folders, open_new, write_safetensors
from virnucpro_backend.weights.model_json import ModelDescription

LONGEST_FRAME = 1 << 20
"""In letters; longer than any chunk."""
MOST_NAMED = 50
"""The largest number of refused files that the report names."""
_OTHER_INPUTS = "Name the file that the earlier run was made from, and the same length of chunks."


class ImportFailedError(Exception):
    """Nothing can be imported; `message` and `next_step` are for the user."""

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class RefusedFile(msgspec.Struct, frozen=True):
    """A file that was not used. path: relative to the folder."""

    path: str
    why: str


class ImportReport(msgspec.Struct, frozen=True):
    """What was imported. frames: open reading frames of the inputs; frames_dnabert_s, frames_esm2: how many
    have an embedding; rows_left_out: rows of used files with impossible numbers."""

    tool: Tool
    precision: str | None
    index_sha256: str
    frames: int
    frames_dnabert_s: int
    frames_esm2: int
    rows_left_out: int
    files_used: int
    files_refused: int
    refused: list[RefusedFile]


def import_folder(
    folder: Path,
    inputs: Sequence[Path],
    chunk_length: int,
    model: ModelDescription,
    into: Path,
    on_file: Callable[[Path], None] = lambda _: None,
) -> ImportReport:
    """Write `into/index.safetensors` and the vectors; see `inference.imported` for their format.

    Each file is used or refused as a whole, except that rows with impossible numbers are left out. `on_file`
    is called before each file. Raises ImportFailedError, PrepareError if an input can't be read, and OSError.
    """
    if not folder.is_dir():
        raise ImportFailedError(f"{folder} is not a folder.", "Name the folder that the earlier tool wrote.")
    found = look_through(folder)
    if not (found.batches or found.others):
        raise ImportFailedError(
            f"{folder} holds no embeddings of VirNucPro (files that end in .pt).",
            "Name the folder that the earlier tool wrote, or start an ordinary run.",
        )
    if found.chunk_length not in (None, chunk_length):
        raise ImportFailedError(
            f"That run was made with chunks of {found.chunk_length} bases, and not of {chunk_length}.",
            f"Choose the model for chunks of {found.chunk_length} bases.",
        )
    frames = FrameIndex()
    frames.read(inputs, chunk_length)
    _compare_letters(found, frames)
    make_real_folders(into.parent, into)
    with closing(_Vectors(into)) as vectors:
        taker = _Taker(folder, frames, model, vectors)
        for path in [*found.batches, *found.others]:
            on_file(path)
            taker.take(path, esm2_in_doubt=found.names_in_doubt and path not in found.batches)
        taker.refused += [
            RefusedFile(
                path.relative_to(folder).as_posix(), "HDF5 is not read; the batch files hold the same"
            )
            for path in found.hdf5
        ]
        if not any(vectors.keys[name] for name in ENCODERS):
            reasons = "; ".join(f"{file.path}: {file.why}" for file in taker.refused[:3])
            raise ImportFailedError(
                f"None of the embeddings in {folder} can be used. {reasons}",
                "Check that the inputs are those of that run, or start an ordinary run.",
            )
        index_sha256 = vectors.finish()
    return ImportReport(
        tool=found.tool,
        precision=", ".join(sorted(taker.precisions)) or None,
        index_sha256=index_sha256,
        frames=len(frames),
        frames_dnabert_s=frames.count("dnabert_s", set(vectors.keys["dnabert_s"])),
        frames_esm2=frames.count("esm2", set(vectors.keys["esm2"])),
        rows_left_out=taker.rows_left_out,
        files_used=taker.files_used,
        files_refused=len(taker.refused),
        refused=taker.refused[:MOST_NAMED],
    )


def _compare_letters(found: LegacyFolder, frames: FrameIndex) -> None:
    """Check that the folder's FASTA files hold the same frames as the inputs."""
    sides: tuple[tuple[EncoderName, list[Path]], ...] = (
        ("esm2", found.proteins),
        ("dnabert_s", found.nucleotides),
    )
    for encoder, paths in sides:
        for path in paths:
            for name, letters in _fasta(path):
                key = frames.key(name, encoder)
                if name not in frames or key not in (None, sequence_key(letters)):
                    raise ImportFailedError(
                        f"It was made from other sequences: {name} of {path.name} is not in the inputs.",
                        _OTHER_INPUTS,
                    )


def _fasta(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the letters of each record, as the tool wrote them."""
    with InputFile(path) as file:
        name, rest = "", b""
        letters: list[bytes] = []
        for block in file.blocks():
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                if not line.startswith(b">"):
                    letters.append(line.strip().upper())
                    continue
                if name:
                    yield name, b"".join(letters)
                words = line[1:].split()
                name, letters = words[0].decode("utf-8", "replace") if words else "?", []
            if len(rest) + sum(map(len, letters)) > LONGEST_FRAME:
                raise ImportFailedError(
                    f"It was made from other sequences: a frame in {path.name} is longer than any chunk.",
                    _OTHER_INPUTS,
                )
        if name:
            yield name, b"".join([*letters, rest.strip().upper()])


class _Vectors:
    """The files being written, and their content so far: the first vector of each distinct sequence."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.keys: dict[EncoderName, dict[SequenceKey, int]] = {name: {} for name in ENCODERS}
        self._digests: dict[EncoderName, list[int]] = {name: [] for name in ENCODERS}
        self._files = {name: BufferedWriter(open_new(vectors_path(folder, name))) for name in ENCODERS}

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def add(self, encoder: EncoderName, key: SequenceKey, vector: FloatRows) -> None:
        keys = self.keys[encoder]
        if key in keys:
            return
        keys[key] = len(keys)
        self._digests[encoder].append(vector_digest(vector))
        self._files[encoder].write(np.ascontiguousarray(vector, "<f4").tobytes())

    def finish(self) -> str:
        """Flush everything to disk; return the SHA-256 of the index."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        arrays = {}
        for name in ENCODERS:
            keys = np.array(list(self.keys[name]), dtype=np.uint64).reshape(-1, 2)
            order = np.argsort(keys[:, 0], kind="stable")
            arrays[f"{name}_keys"] = keys[order]
            arrays[f"{name}_rows"] = order.astype(np.uint64)
            arrays[f"{name}_digests"] = np.array(self._digests[name], dtype=np.uint64)[order]
        return write_safetensors(self._folder / INDEX_FILE, arrays).sha256


@dataclass
class _Taker:
    folder: Path
    frames: FrameIndex
    model: ModelDescription
    vectors: _Vectors
    refused: list[RefusedFile] = field(default_factory=list)
    precisions: set[str] = field(default_factory=set)
    rows_left_out: int = 0
    files_used: int = 0

    def take(self, path: Path, *, esm2_in_doubt: bool) -> None:
        """Use a file, or record why it is refused."""
        widths: Mapping[EncoderName, int] = {
            "dnabert_s": self.model.dnabert_s.width,
            "esm2": self.model.esm2.width,
        }
        try:
            file = read_legacy_file(path, widths)
            if esm2_in_doubt and "esm2" in file.vectors:
                raise RefusedFileError("the fork may have paired its rows with the names of others")
            self._take(file)
        except RefusedFileError as refusal:
            self.refused.append(RefusedFile(path.relative_to(self.folder).as_posix(), str(refusal)))

    def _take(self, file: LegacyFile) -> None:
        placed = np.array([not name.endswith(LOST_SUFFIX) for name in file.ids], dtype=np.bool_)
        strange = [
            name
            for name, has_place in zip(file.ids, placed, strict=True)
            if has_place and name not in self.frames
        ]
        if strange:
            raise RefusedFileError(f"{strange[0]} is not a reading frame of the inputs")
        right = placed.copy()
        for rows in file.vectors.values():
            right &= _can_be_right(rows)
        if placed.any() and not right.any():
            raise RefusedFileError("no row of it has numbers that can be right")
        self.rows_left_out += int((placed & ~right).sum())
        self.files_used += 1
        if file.precision is not None:
            self.precisions.add(file.precision)
        for row in np.flatnonzero(right).tolist():
            for name, rows in file.vectors.items():
                key = self.frames.key(file.ids[row], name)
                if key is not None:
                    self.vectors.add(name, key, rows[row])


def _can_be_right(rows: FloatRows) -> npt.NDArray[np.bool_]:
    """Whether the numbers of each row are finite and not all 0. Whether they are correct is checked later, by
    computing and comparing a sample in every part."""
    return np.asarray(np.isfinite(rows).all(axis=1) & (rows != 0).any(axis=1))
