"""Reads the files with embeddings that the original tool and its fork write, recognised by content.

Names are not reliable: the fork writes ESM-2's embeddings to `output_1_DNABERT.pt`. No code in a file is run;
see `weights.formats.pickles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from torch import Tensor

from virnucpro_backend.inference.imported import EncoderName
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.formats.pickles import Inert, limited_reading, read_pickled

FloatRows = npt.NDArray[np.float32]
FileKind = Literal["dnabert_s", "esm2", "merged", "batch"]

LARGEST_FILE_OF_ROWS = 256 << 20
"""Bytes of its pickle. It holds DNABERT-S's rows as numbers and the fork's as arrays: 70 and 103 MB for
10,000 rows, which is the most that the two tools write to a file."""
LOST_SUFFIX = "_LOST"
"""The fork's suffix for a row that it could not assign to a sequence."""


class RefusedFileError(Exception):
    """The file is not used; the text tells the user why."""


@dataclass(frozen=True)
class LegacyFile:
    """The rows of one file. `vectors`: FP32 [n, width] for each encoder in it; ids [n]. precision: that of
    the encoder, if the file says so."""

    kind: FileKind
    ids: list[str]
    vectors: Mapping[EncoderName, FloatRows]
    precision: str | None


def read_legacy_file(path: Path, widths: Mapping[EncoderName, int]) -> LegacyFile:
    """Read a file and check that ids and rows match each other and the widths. Raises RefusedFileError."""
    try:
        with limited_reading(path, LARGEST_FILE_OF_ROWS):
            content = read_pickled(path, LARGEST_FILE_OF_ROWS)
    except (WeightsError, OSError) as error:
        raise RefusedFileError(getattr(error, "message", None) or str(error)) from error
    if not isinstance(content, dict):
        raise RefusedFileError("it holds no embeddings")
    if str(content.get("version", "0")).partition(".")[0] not in ("0", "1"):
        raise RefusedFileError(f"its format is {content['version']}, which is not known")
    try:
        file = _classified(content, widths)
    except (TypeError, ValueError, KeyError, AttributeError, RuntimeError) as error:
        raise RefusedFileError(f"its rows are not what they should be ({error})") from error
    for name, vectors in file.vectors.items():
        if vectors.shape != (len(file.ids), widths[name]):
            raise RefusedFileError(
                f"{len(file.ids)} names and rows of shape {tuple(vectors.shape)}; each should have "
                f"{widths[name]} numbers"
            )
    return file


def _classified(content: dict[Any, Any], widths: Mapping[EncoderName, int]) -> LegacyFile:
    if "nucleotide" in content and "data" in content:
        ids, rows = _texts(content["nucleotide"]), content["data"]
        if _texts(row["label"] for row in rows) != ids:
            raise ValueError("names and rows are in different order")
        vectors = np.array([row["mean_representation"] for row in rows], dtype=np.float32)
        return LegacyFile("dnabert_s", ids, {"dnabert_s": vectors.reshape(len(rows), -1)}, None)
    if "proteins" in content and "data" in content:
        ids, rows = _texts(content["proteins"]), [_floats(row) for row in content["data"]]
        stacked = np.stack(rows) if rows else np.zeros((0, widths["esm2"]), np.float32)
        return LegacyFile("esm2", ids, {"esm2": stacked}, None)
    if "ids" in content and "data" in content:
        ids, both = _texts(content["ids"]), _floats(content["data"])
        first = widths["dnabert_s"]
        if both.ndim != 2 or both.shape[1] != first + widths["esm2"]:
            raise ValueError(f"rows of shape {tuple(both.shape)}")
        return LegacyFile("merged", ids, {"dnabert_s": both[:, :first], "esm2": both[:, first:]}, None)
    if "sequence_ids" in content and "embeddings" in content:
        metadata = content.get("metadata")
        precision = metadata.get("model_dtype") if isinstance(metadata, dict) else None
        vectors = _floats(content["embeddings"])
        ids = _texts(content["sequence_ids"])
        return LegacyFile("batch", ids, {"esm2": vectors}, None if precision is None else str(precision))
    raise RefusedFileError("it holds no embeddings of VirNucPro")


def _texts(values: Any) -> list[str]:
    texts = list(values)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a name is no text")
    return texts


def _floats(value: Any) -> FloatRows:
    """Convert a tensor, or the inert form of a pickled NumPy array, to FP32."""
    if isinstance(value, Tensor):
        return value.detach().float().numpy()
    if isinstance(value, Inert) and value.qualified_name.endswith(".multiarray._reconstruct"):
        _version, shape, dtype, column_major, content = value.state
        kind, order = dtype.args[0], dtype.state[1]
        if kind not in ("f2", "f4", "f8") or order != "<" or column_major:
            raise TypeError(f"numbers of a kind that is not known ({order}{kind})")
        array = np.frombuffer(content, np.dtype(order + kind))
        return array.reshape(tuple(shape)).astype(np.float32)
    raise TypeError("numbers of a kind that is not known")
