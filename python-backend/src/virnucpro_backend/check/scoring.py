"""Scores sequences in memory, with the preparation and the scorer that a run uses."""

from __future__ import annotations

import gc
import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.inference.loading import open_scorer
from virnucpro_backend.inference.memory.device_memory import free_cached_memory
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.prepare.chunking import ChunkTable, chunk_table
from virnucpro_backend.prepare.preparation import prepare_files
from virnucpro_backend.weights.model_json import read_model_json

_RESIDUES_PER_PART = 32_768
_TOKENS_PER_BATCH = 2048


@dataclass(frozen=True)
class ScoredSequences:
    """Sequences in the order of their file, with their chunks and frames.

    `headers`: whole header lines. `chunk_of`: int64 [f], the chunk of each frame. `scores`: FP32 [f, 2],
    P(others) and P(virus) of each frame, NaN for one whose score is no number; there are `failed` of these.
    `recomputed`: frames that gave a number only in FP32.
    """

    headers: tuple[str, ...]
    chunks: ChunkTable
    chunk_of: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    failed: int
    recomputed: int

    @property
    def most_decided(self) -> npt.NDArray[np.float32]:
        """The largest P(others) and P(virus) of each chunk's frames, FP32 [chunks, 2]: NaN without a
        frame and, as in a run, with a frame whose score is no number."""
        largest = np.full((self.chunks.record.size, 2), -np.inf, np.float32)
        # Of a number and one that is none, maximum keeps the latter.
        with np.errstate(invalid="ignore"):
            np.maximum.at(largest, self.chunk_of, self.scores)
        largest[np.isneginf(largest)] = np.nan
        return largest

    @property
    def chunk_scores(self) -> npt.NDArray[np.float64]:
        """P(virus) of the most decided frame of each chunk: at least 0.5 exactly if the call is virus."""
        score1, score2 = self.most_decided.astype(np.float64).T
        scores: npt.NDArray[np.float64] = np.where(score2 >= score1, score2, 1 - score1)
        return scores


def open_panel_scorer(model_folder: Path, kind: DeviceKind, precision: Precision) -> PartScorer:
    """Load a model on a device. Raises WeightsError and LoadFailedError."""
    forbid_hidden_rounding()
    return open_scorer(model_folder, kind, precision, _TOKENS_PER_BATCH, embeddings="fp32")


def score_sequences(
    files: Sequence[Path], model_folder: Path, kind: DeviceKind, precision: Precision
) -> ScoredSequences:
    """Prepare and score files of sequences with a model on a device.

    Raises WeightsError, LoadFailedError, PrepareError and PartFailedError.
    """
    scorer = open_panel_scorer(model_folder, kind, precision)
    scored = score_with(scorer, files, read_model_json(model_folder).chunk_length)
    device = scorer.device
    del scorer
    gc.collect()  # Keep only one model in memory at a time.
    free_cached_memory(device)
    return scored


def score_with(scorer: PartScorer, files: Sequence[Path], chunk_length: int) -> ScoredSequences:
    """Prepare and score files of sequences. Raises PrepareError and PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="virnucpro-controls-") as name:
        folder = Path(name)
        parts = prepare_files(files, folder / "work", chunk_length, _RESIDUES_PER_PART)
        headers, lengths = _records(folder / "work" / "records")
        chunks = chunk_table(lengths, chunk_length)
        first_chunk = np.searchsorted(chunks.record, np.arange(lengths.size))
        chunk_of, scores, failed, recomputed = [], [], 0, 0
        for part in parts:
            path = folder / part.path
            scored = scorer.score(read_part(path, part.sha256, 0, part.frames))
            scores.append(np.stack((scored.score1, scored.score2), axis=1))
            failed += scored.failed
            recomputed += scored.recomputed
            places = load_file(path)
            chunk_of.append(first_chunk[places["row"].astype(np.int64)] + places["chunk"].astype(np.int64))
    joined = np.concatenate(chunk_of), np.concatenate(scores)
    return ScoredSequences(headers, chunks, *joined, failed, recomputed)


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


def auroc(positive: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> float:
    """How often a positive scores higher than a negative (area under the ROC curve); ties count half."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    # From 1; equal values share the mean of their ranks.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    n = int(positive.sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (positive.size - n)))
