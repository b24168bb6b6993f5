"""Turns a part's frames into batches for both encoders, ready to be copied to the device.

The reader's thread makes them ahead of the device. Tokens, batches and pinned buffers are a pure function of
the part and of the plan's tokens per batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from virnucpro_backend.encoders.batches import ROUND_TO, Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.tokens import DnaTokenizer, TokenSequences, esm2_tokens
from virnucpro_backend.inference.equal_sequences import (
    DistinctSequences,
    distinct_sequences,
    every_sequence,
)
from virnucpro_backend.inference.imported import EncoderName, FoundVectors, ImportedEmbeddings
from virnucpro_backend.inference.part_file import Letters, Offsets, PartFrames, gathered


@dataclass(frozen=True)
class HostBatch:
    """A batch on the host, in pinned memory if it goes to a GPU.

    tokens int32 [T], dummies last; members int64 [n]: the numbers of the n sequences that are not dummies.
    """

    batch: Batch
    tokens: Tensor
    members: Tensor


@dataclass(frozen=True)
class EncoderInput:
    """One encoder's input from a part: k token sequences, their batches, and the frames they represent.

    represents int64 [k, 2]: how many frames, and residues of those frames, each sequence represents; place
    int64 [f]: which of the k sequences each frame has, None if sequence i is frame i's. imported: vectors
    that need not be computed; the batches hold all others, and some of these for comparison.
    """

    sequences: TokenSequences
    represents: npt.NDArray[np.int64]
    place: Tensor | None
    packs: bool
    batches: list[HostBatch]
    pin: bool
    imported: FoundVectors | None

    @property
    def tokens(self) -> int:
        """Tokens of all sequences that are computed, without dummies."""
        return sum(int(self.sequences.lengths[host.batch.members].sum()) for host in self.batches)

    def represented_by(self, members: npt.NDArray[np.integer]) -> tuple[int, int]:
        """How many frames, and residues of those frames, the sequences with these numbers represent."""
        frames, residues = self.represents[members].sum(axis=0).tolist()
        return frames, residues

    def within(self, batch: Batch, tokens_per_batch: int) -> bool:
        """Whether a batch fits the limit without its dummies; a single member always does."""
        n_members = len(batch.members)
        return n_members == 1 or int(batch.lengths[:n_members].sum()) <= tokens_per_batch

    def split(self, batch: Batch, tokens_per_batch: int) -> list[HostBatch]:
        """Split the members of a batch into batches of at most this many tokens, or of one sequence."""
        lengths = self.sequences.lengths[batch.members]
        parts = plan_batches(lengths, tokens_per_batch, self.packs, self.pin)
        return [
            host_batch(self.sequences, Batch(batch.members[part.members], part.lengths), self.pin)
            for part in parts
        ]


@dataclass(frozen=True)
class PreparedPart:
    """A part with both alphabets tokenized and batched."""

    frames: PartFrames
    dnabert_s: EncoderInput
    esm2: EncoderInput

    @property
    def repeated_proteins(self) -> int:
        """How many frames share the embedding of an equal protein."""
        return self.frames.count - len(self.esm2.represents)

    @property
    def repeated_nucleotides(self) -> int:
        """How many frames share the embedding of equal nucleotides."""
        return self.frames.count - len(self.dnabert_s.represents)


@dataclass(frozen=True)
class BatchPlan:
    """How batches are made: the plan's tokens per batch, whether equal sequences are embedded once, whether
    each encoder's attention packs sequences, and whether to pin memory."""

    tokens_per_batch: int
    embed_equal_sequences_once: bool
    dnabert_s_packs: bool
    esm2_packs: bool
    pin: bool


def prepare_part(
    frames: PartFrames, tokenizer: DnaTokenizer, plan: BatchPlan, imported: ImportedEmbeddings | None = None
) -> PreparedPart:
    """Tokenize and batch a part's frames for both encoders, except those with imported embeddings."""
    return PreparedPart(
        frames,
        _encoder_input(
            "dnabert_s",
            frames,
            (frames.nucleotides, frames.nucleotide_offsets),
            tokenizer.encode,
            plan.dnabert_s_packs,
            plan,
            imported,
        ),
        _encoder_input(
            "esm2",
            frames,
            (frames.residues, frames.residue_offsets),
            esm2_tokens,
            plan.esm2_packs,
            plan,
            imported,
        ),
    )


def plan_batches(
    lengths: npt.NDArray[np.int64], tokens_per_batch: int, packs: bool, for_gpu: bool
) -> list[Batch]:
    """Batches for an attention that packs sequences of any length, or for one that wants equal lengths."""
    if packs:
        return packed_batches(lengths, tokens_per_batch, ROUND_TO if for_gpu else 1)
    return equal_length_batches(lengths, tokens_per_batch)


def host_batch(sequences: TokenSequences, batch: Batch, pin: bool) -> HostBatch:
    """Gather a batch's tokens on the host."""
    tokens = torch.from_numpy(sequences.of_batch(batch))
    members = torch.from_numpy(np.ascontiguousarray(batch.members))
    if pin:
        tokens, members = tokens.pin_memory(), members.pin_memory()
    return HostBatch(batch, tokens, members)


def _encoder_input(
    encoder: EncoderName,
    frames: PartFrames,
    sequences_of_frames: tuple[Letters, Offsets],
    tokenize: Callable[[Letters, Offsets], TokenSequences],
    packs: bool,
    plan: BatchPlan,
    all_imported: ImportedEmbeddings | None,
) -> EncoderInput:
    letters, offsets = sequences_of_frames
    distinct = (
        distinct_sequences(letters, offsets)
        if plan.embed_equal_sequences_once
        else every_sequence(frames.count)
    )
    place = None
    if distinct.repeats:
        letters, offsets = gathered(letters, offsets, distinct.first)
        place = torch.from_numpy(distinct.place)
        place = place.pin_memory() if plan.pin else place
    sequences = tokenize(letters, offsets)
    imported = all_imported.find(encoder, letters, offsets) if all_imported else None
    if imported is None:
        batches = plan_batches(sequences.lengths, plan.tokens_per_batch, packs, plan.pin)
    else:
        missing = np.delete(np.arange(len(sequences.lengths)), imported.taken_over)
        batches = [
            Batch(missing[batch.members], batch.lengths)
            for batch in plan_batches(sequences.lengths[missing], plan.tokens_per_batch, packs, plan.pin)
        ]
    return EncoderInput(
        sequences,
        _represented(distinct, frames),
        place,
        packs,
        [host_batch(sequences, batch, plan.pin) for batch in batches],
        plan.pin,
        imported,
    )


def _represented(distinct: DistinctSequences, frames: PartFrames) -> npt.NDArray[np.int64]:
    represents = np.zeros((len(distinct.first), 2), dtype=np.int64)
    np.add.at(
        represents, distinct.place, np.stack((np.ones(frames.count, np.int64), frames.residue_counts), axis=1)
    )
    return represents
