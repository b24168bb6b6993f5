"""Embeddings from a run of the original tool, as `legacy` has stored them in a run's folder.

They are looked up only by the letters of a sequence: equal letters have equal embeddings, and no name has to
be trusted. The folder holds these files, which are written once:

- `esm2.f32` and `dnabert_s.f32`: the vectors, FP32, little-endian, one after another;
- `index.safetensors`: for each encoder `{encoder}_keys` uint64 [n, 2], computed from the sequences' letters
  and ascending by the first column; `{encoder}_rows` uint64 [n], the row of each vector;
  `{encoder}_digests` uint64 [n], computed from each vector's bytes.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from virnucpro_backend.safetensors_file import read_ordinary

EncoderName = Literal["dnabert_s", "esm2"]
ENCODERS: tuple[EncoderName, ...] = ("dnabert_s", "esm2")
INDEX_FILE = "index.safetensors"

COMPARED_SHARE, FEWEST_COMPARED, MOST_COMPARED = 32, 4, 32
"""One in this many imported embeddings is computed as well and compared, within these limits per part."""
LARGEST_DIFFERENCE = 0.05
"""The largest Euclidean distance from the vector computed here, as a share of the latter's norm."""

log = logging.getLogger(__name__)

FloatRows = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FoundVectors:
    """Vectors of m of k sequences. places: int64 [m], which of the k, ascending; vectors: FP32 [m, width].

    compared: int64 [s], which of the m are also computed, to check that they agree.
    """

    places: Places
    vectors: FloatRows
    compared: Places

    @property
    def taken_over(self) -> Places:
        """The sequences that are not computed, int64 [m - s]."""
        return np.delete(self.places, self.compared)


class ImportedEmbeddings:
    """The imported embeddings of one run, looked up part by part."""

    def __init__(self, folder: Path, index_sha256: str, widths: Mapping[EncoderName, int]) -> None:
        """Open the folder. Raises ValueError if a file is not as it was written, and OSError."""
        content = read_ordinary(folder / INDEX_FILE)
        if hashlib.sha256(content).hexdigest() != index_sha256:
            raise ValueError(f"{INDEX_FILE} is not what was written")
        try:
            arrays = safetensors.numpy.load(content)
            self._of = {name: _Imported(folder, name, arrays, widths[name]) for name in ENCODERS}
        except (SafetensorError, KeyError) as error:
            raise ValueError(f"{INDEX_FILE} is no index ({error!r})") from error

    def find(
        self, encoder: EncoderName, letters: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]
    ) -> FoundVectors | None:
        """Look up k sequences, sequence i at letters[offsets[i] : offsets[i + 1]]; None if none is found.

        A vector whose bytes are not those that were written counts as missing.
        """
        text, bounds = letters.tobytes(), offsets.tolist()
        keys = np.array([sequence_key(text[a:b]) for a, b in itertools.pairwise(bounds)], dtype=np.uint64)
        if len(keys) == 0:
            return None
        places, vectors = self._of[encoder].find(keys.reshape(-1, 2))
        if len(places) == 0:
            return None
        sample = min(len(places), max(FEWEST_COMPARED, min(MOST_COMPARED, len(places) // COMPARED_SHARE)))
        compared = np.linspace(0, len(places) - 1, sample).astype(np.int64)
        return FoundVectors(places, vectors, np.unique(compared))


class _Imported:
    def __init__(
        self, folder: Path, name: EncoderName, arrays: Mapping[str, npt.NDArray[np.generic]], width: int
    ) -> None:
        self._name = name
        self._keys = arrays[f"{name}_keys"].astype(np.uint64)
        self._rows = arrays[f"{name}_rows"].astype(np.int64)
        self._digests = arrays[f"{name}_digests"].astype(np.uint64)
        path, count = vectors_path(folder, name), len(self._rows)
        if path.is_symlink() or path.stat().st_size != count * width * 4:
            raise ValueError(f"{path.name} is not as long as it was written")
        shape = (count, width)
        self._vectors = np.memmap(path, "<f4", "r", shape=shape) if count else np.zeros(shape, "<f4")

    def find(self, keys: npt.NDArray[np.uint64]) -> tuple[Places, FloatRows]:
        if len(self._rows) == 0:
            return np.zeros(0, np.int64), np.zeros((0, self._vectors.shape[1]), np.float32)
        at = np.minimum(np.searchsorted(self._keys[:, 0], keys[:, 0]), len(self._rows) - 1)
        places = np.flatnonzero((self._keys[at] == keys).all(axis=1))
        vectors = np.array(self._vectors[self._rows[at[places]]], dtype="<f4")
        digests = np.array([vector_digest(vector) for vector in vectors], dtype=np.uint64)
        sound = digests == self._digests[at[places]]
        if not sound.all():
            log.warning("%d imported embeddings of %s are damaged", int((~sound).sum()), self._name)
        return places[sound], vectors[sound]


def vectors_path(folder: Path, encoder: EncoderName) -> Path:
    """The path of an encoder's vectors."""
    return folder / f"{encoder}.f32"


def sequence_key(letters: bytes) -> tuple[int, int]:
    """Compute a sequence's key from its letters alone: 128 bits as two numbers."""
    digest = hashlib.blake2b(letters, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def vector_digest(vector: npt.NDArray[np.float32]) -> int:
    """Compute 64 bits from a vector's bytes, to detect damage."""
    content = np.ascontiguousarray(vector, "<f4").tobytes()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
