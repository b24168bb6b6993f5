"""Scores sequences in memory, with the preparation and the scorer that a run uses."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.inference.loading import open_scorer
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.prepare.chunking import ChunkTable, chunk_table
from virnucpro_backend.prepare.preparation import prepare_files
from virnucpro_backend.weights.model_json import read_model_json

_RESIDUES_PER_PART = 32_768
_TOKENS_PER_BATCH = 2048


@dataclass(frozen=True)
class ScoredSequences:
    """Sequences in the order of their file, and their chunks.

    `headers`: whole header lines. `score1` and `score2`: of every chunk the largest P(others) and P(virus) of
    its frames, FP32 [chunks], NaN for a chunk without a frame and, as in a run, for one with a frame whose
    score is no number. `failed`: such frames.
    """

    headers: tuple[str, ...]
    lengths: npt.NDArray[np.int64]
    chunks: ChunkTable
    score1: npt.NDArray[np.float32]
    score2: npt.NDArray[np.float32]
    frames: int
    failed: int

    @property
    def chunk_scores(self) -> npt.NDArray[np.float64]:
        """P(virus) of the most decisive frame of each chunk: at least 0.5 exactly if the call is virus."""
        score1, score2 = self.score1.astype(np.float64), self.score2.astype(np.float64)
        return np.where(score2 >= score1, score2, 1 - score1)


def open_panel_scorer(model_folder: Path, kind: DeviceKind, precision: Precision) -> PartScorer:
    """Load a model on a device. Raises WeightsError and LoadFailedError."""
    forbid_hidden_rounding()
    return open_scorer(model_folder, kind, precision, _TOKENS_PER_BATCH, embeddings="fp32")


def score_sequences(
    sequences: Path, model_folder: Path, kind: DeviceKind, precision: Precision
) -> ScoredSequences:
    """Prepare and score a file of sequences with a model on a device.

    Raises WeightsError, LoadFailedError, PrepareError and PartFailedError.
    """
    scorer = open_panel_scorer(model_folder, kind, precision)
    return score_with(scorer, sequences, read_model_json(model_folder).chunk_length)


def score_with(scorer: PartScorer, sequences: Path, chunk_length: int) -> ScoredSequences:
    """Prepare and score a file of sequences. Raises PrepareError and PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="virnucpro-controls-") as name:
        folder = Path(name)
        parts = prepare_files([sequences], folder / "work", chunk_length, _RESIDUES_PER_PART)
        headers, lengths = _records(folder / "work" / "records")
        chunks = chunk_table(lengths, chunk_length)
        first_chunk = np.searchsorted(chunks.record, np.arange(lengths.size))
        score1 = np.full(chunks.record.size, -np.inf, np.float32)
        score2 = np.full(chunks.record.size, -np.inf, np.float32)
        failed = 0
        for part in parts:
            path = folder / part.path
            scores = scorer.score(read_part(path, part.sha256, 0, part.frames))
            places = load_file(path)
            chunk = first_chunk[places["row"].astype(np.int64)] + places["chunk"].astype(np.int64)
            # Of a number and one that is none, maximum keeps the latter.
            with np.errstate(invalid="ignore"):
                np.maximum.at(score1, chunk, scores.score1)
                np.maximum.at(score2, chunk, scores.score2)
            failed += scores.failed
    unscored = np.isneginf(score2)
    score1[unscored] = score2[unscored] = np.nan
    frames = sum(part.frames for part in parts)
    return ScoredSequences(headers, lengths, chunks, score1, score2, frames, failed)


def _records(folder: Path) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Read the header lines and lengths of all records that were prepared."""
    headers: list[str] = []
    lengths: list[npt.NDArray[np.int64]] = []
    for path in sorted(folder.glob("*.safetensors")):
        arrays = load_file(path)
        text, offsets = arrays["header"].tobytes(), arrays["header_offsets"].tolist()
        headers += [text[begin:end].decode("utf-8") for begin, end in itertools.pairwise(offsets)]
        lengths.append(arrays["length"].astype(np.int64))
    return tuple(headers), np.concatenate(lengths)
