"""Writes a part's results: always scores, and embeddings if the plan asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from virnucpro_backend.inference.commands import Part
from virnucpro_backend.inference.failures import write_failure
from virnucpro_backend.inference.scorer import PartScores
from virnucpro_backend.safetensors_file import make_real_folders, write_safetensors


@dataclass(frozen=True)
class WrittenPart:
    """SHA-256 of the files that are safely on disk."""

    scores_sha256: str
    embeddings_sha256: str | None


def write_part(command: Part, scores: PartScores, model_hash: str, precision: str) -> WrittenPart:
    """Write work/scores/KEY.safetensors and, on request, work/embeddings/KEY.safetensors.

    The embeddings are written first, so that a part with a scores file is complete. Raises PartFailedError
    (`disk_full`, `write_failed`).
    """
    metadata = {
        "part": command.key,
        "part_sha256": command.part_sha256,
        "frame_begin": str(command.frame_begin),
        "frame_end": str(command.frame_end),
        "model_hash": model_hash,
        "precision": precision,
    }
    embeddings_sha256 = None
    if command.embeddings_path is not None and scores.embeddings is not None:
        embeddings_sha256 = _write(command.embeddings_path, dict(scores.embeddings), metadata)
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "score1": scores.score1,
        "score2": scores.score2,
        "state": scores.state,
    }
    return WrittenPart(_write(command.scores_path, arrays, metadata), embeddings_sha256)


def _write(path: Path, arrays: dict[str, npt.NDArray[np.generic]], metadata: dict[str, str]) -> str:
    try:
        make_real_folders(path.parent.parent, path.parent)
        return write_safetensors(path, arrays, metadata).sha256
    except OSError as error:
        raise write_failure(error, path.name) from error
