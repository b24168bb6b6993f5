"""Scores sequences in memory, with the preparation and the scorer that a run uses."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from virnucpro_backend.devices.kinds import DeviceKind, Precision
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.inference.commands import Load
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.starting.loading import load_in_fp32, open_and_load
from virnucpro_backend.prepare.chunking import ChunkTable, chunk_table
from virnucpro_backend.prepare.job import Job, JobInput
from virnucpro_backend.prepare.preparation import Preparation
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


def score_sequences(
    sequences: Path, model_folder: Path, kind: DeviceKind, precision: Precision
) -> ScoredSequences:
    """Prepare and score a file of sequences with a model on a device.

    Raises WeightsError, LoadFailedError, PrepareError and PartFailedError.
    """
    forbid_hidden_rounding()
    model = read_model_json(model_folder)
    command = Load(
        device=kind,
        model_folder=model_folder,
        precision=precision,
        tokens_per_batch=_TOKENS_PER_BATCH,
        embed_equal_sequences_once=False,
        embeddings=None,
        memory_fraction=None,
        most_tokens_per_batch=None,
        placement="auto",
        memory_profile=None,
        imported_embeddings=None,
    )
    ready = open_and_load(command)
    scorer = PartScorer(
        ready.model,
        ready.tokens_per_batch,
        embed_equal_sequences_once=False,
        embeddings=None,
        load_fp32=lambda device: load_in_fp32(command, device),
    )
    with tempfile.TemporaryDirectory(prefix="virnucpro-controls-") as folder:
        prepared = _prepare(sequences, Path(folder), model.chunk_length)
        return _score(prepared, scorer, model.chunk_length)


@dataclass(frozen=True)
class _Prepared:
    headers: tuple[str, ...]
    lengths: npt.NDArray[np.int64]
    parts: tuple[tuple[Path, str, int], ...]
    """The file, the SHA-256 and the number of frames of each part."""


def _prepare(sequences: Path, folder: Path, chunk_length: int) -> _Prepared:
    events: list[tuple[str, Mapping[str, object]]] = []
    job = Job(
        inputs=(JobInput(input=0, path=sequences, sha256=None),),
        work_dir=folder / "work",
        chunk_length=chunk_length,
        residues_per_part=_RESIDUES_PER_PART,
        tail_parts=0,
        order_seed=None,
    )
    Preparation(job, lambda type, **fields: events.append((type, fields))).run()
    headers: list[str] = []
    lengths: list[npt.NDArray[np.int64]] = []
    for path in sorted((folder / "work" / "records").glob("*.safetensors")):
        arrays = load_file(path)
        text, offsets = arrays["header"].tobytes(), arrays["header_offsets"].tolist()
        headers += [text[begin:end].decode("utf-8") for begin, end in itertools.pairwise(offsets)]
        lengths.append(arrays["length"].astype(np.int64))
    parts = tuple(
        (folder / cast(str, part["path"]), cast(str, part["sha256"]), cast(int, part["frames"]))
        for type, part in events
        if type == "part"
    )
    return _Prepared(tuple(headers), np.concatenate(lengths), parts)


def _score(prepared: _Prepared, scorer: PartScorer, chunk_length: int) -> ScoredSequences:
    chunks = chunk_table(prepared.lengths, chunk_length)
    first_chunk = np.searchsorted(chunks.record, np.arange(prepared.lengths.size))
    score1 = np.full(chunks.record.size, -np.inf, np.float32)
    score2 = np.full(chunks.record.size, -np.inf, np.float32)
    total = failed = 0
    for path, sha256, frames in prepared.parts:
        scores = scorer.score(read_part(path, sha256, 0, frames))
        places = load_file(path)
        chunk = first_chunk[places["row"].astype(np.int64)] + places["chunk"].astype(np.int64)
        # Of a number and one that is none, maximum keeps the latter.
        with np.errstate(invalid="ignore"):
            np.maximum.at(score1, chunk, scores.score1)
            np.maximum.at(score2, chunk, scores.score2)
        total += frames
        failed += scores.failed
    unscored = np.isneginf(score2)
    score1[unscored] = score2[unscored] = np.nan
    return ScoredSequences(prepared.headers, prepared.lengths, chunks, score1, score2, total, failed)
