"""A shard's frames as the batches of both encoders, ready to be copied to the device.

Made by the reader's thread, ahead of the device: tokens, batches and pinned buffers are a pure function of
the shard and of the plan's tokens per batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.tokens import DnaTokenizer, TokenSequences, esm2_tokens
from virnucpro_backend.inference.shard_file import ShardFrames


@dataclass(frozen=True)
class HostBatch:
    """A batch on the host, pinned where a GPU will fetch it.

    tokens int32 [T], dummies last; members int64 [n]: the frames of the n sequences that are no dummies.
    """

    batch: Batch
    tokens: Tensor
    members: Tensor


@dataclass(frozen=True)
class EncoderInput:
    """What one encoder gets of a shard: token sequences in the shard's order and their batches."""

    sequences: TokenSequences
    packs: bool
    batches: list[HostBatch]
    pin: bool

    def within(self, batch: Batch, tokens_per_batch: int) -> bool:
        """Whether the members of a batch, dummies not counted, are few enough; one always is."""
        n_members = len(batch.members)
        return n_members == 1 or int(batch.lengths[:n_members].sum()) <= tokens_per_batch

    def split(self, batch: Batch, tokens_per_batch: int) -> list[HostBatch]:
        """The members of a batch again, in batches of at most so many tokens (one sequence at least)."""
        lengths = self.sequences.lengths[batch.members]
        parts = plan_batches(lengths, tokens_per_batch, self.packs)
        return [
            host_batch(self.sequences, Batch(batch.members[part.members], part.lengths), self.pin)
            for part in parts
        ]


@dataclass(frozen=True)
class PreparedShard:
    """A shard with both alphabets tokenized and batched."""

    frames: ShardFrames
    dnabert_s: EncoderInput
    esm2: EncoderInput


@dataclass(frozen=True)
class BatchPlan:
    """How batches are made: the plan's tokens per batch, what either attention takes, and whether to pin."""

    tokens_per_batch: int
    dnabert_s_packs: bool
    esm2_packs: bool
    pin: bool


def prepare_shard(frames: ShardFrames, tokenizer: DnaTokenizer, plan: BatchPlan) -> PreparedShard:
    """Tokenize and batch the frames of a shard for both encoders."""
    dna = tokenizer.encode(frames.nucleotides, frames.nucleotide_offsets)
    protein = esm2_tokens(frames.residues, frames.residue_offsets)
    return PreparedShard(
        frames=frames,
        dnabert_s=_encoder_input(dna, plan.tokens_per_batch, plan.dnabert_s_packs, plan.pin),
        esm2=_encoder_input(protein, plan.tokens_per_batch, plan.esm2_packs, plan.pin),
    )


def plan_batches(lengths: npt.NDArray[np.int64], tokens_per_batch: int, packs: bool) -> list[Batch]:
    """Batches for an attention that packs sequences of any length, or for one that wants equal lengths."""
    if packs:
        return packed_batches(lengths, tokens_per_batch)
    return equal_length_batches(lengths, tokens_per_batch)


def host_batch(sequences: TokenSequences, batch: Batch, pin: bool) -> HostBatch:
    """Gather a batch's tokens on the host."""
    tokens = torch.from_numpy(sequences.of_batch(batch))
    members = torch.from_numpy(np.ascontiguousarray(batch.members))
    if pin:
        tokens, members = tokens.pin_memory(), members.pin_memory()
    return HostBatch(batch, tokens, members)


def _encoder_input(sequences: TokenSequences, tokens_per_batch: int, packs: bool, pin: bool) -> EncoderInput:
    batches = plan_batches(sequences.lengths, tokens_per_batch, packs)
    return EncoderInput(sequences, packs, [host_batch(sequences, batch, pin) for batch in batches], pin)
