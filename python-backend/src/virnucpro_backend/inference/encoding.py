"""The loop over a shard's batches: copy in, embed, put each frame's vector into its place.

Nothing here waits for the device but the limit on how far the host may run ahead. Memory that runs out is
answered by halving: see `_embed`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from virnucpro_backend.encoders.batches import Batch
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.inference.batching import EncoderInput, HostBatch, PreparedShard
from virnucpro_backend.inference.failures import ShardFailedError
from virnucpro_backend.inference.memory import TokenBudget, free_cached_memory, is_out_of_memory
from virnucpro_backend.weights.model_folder import LoadedModel

BATCHES_AHEAD = 2
"""Batches that the host may have queued on a GPU: enough to keep it busy, few enough to pause soon."""

Embed = Callable[[Tensor, SequenceLayout], Tensor]

log = logging.getLogger(__name__)


class ShardListener:
    """Is told how a shard goes on; this one doesn't listen."""

    def batch_done(self, frames: int, residues: int) -> None:
        """A batch is through; so many more frames and residues are through both encoders. May raise."""

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        """The device's budget of tokens per batch was cut."""


def recorded_event() -> torch.cuda.Event:
    """A mark behind all that is queued on the GPU now; waiting for it sleeps rather than spins."""
    event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    event.record()
    return event


@dataclass
class Embeddings:
    """Pooled vectors in the shard's order, FP32 on the device, and how many batches had to be split."""

    dnabert_s: Tensor
    esm2: Tensor
    batch_halvings: int


class BatchLoop:
    """Runs the batches of shards through one model's encoders on one device."""

    def __init__(self, model: LoadedModel, budget: TokenBudget) -> None:
        self._model = model
        self._device = model.device
        self._budget = budget
        self._queued: deque[torch.cuda.Event] = deque()

    @torch.inference_mode()
    def embed(self, shard: PreparedShard, listener: ShardListener) -> Embeddings:
        """Embed all frames of a shard: FP32 [f, 768] and [f, 2560] for the published models.

        Returns before a GPU has finished. Raises ShardFailedError `out_of_memory` when the smallest batch
        does not fit, and whatever `listener` raises.
        """
        model, halvings = self._model, 0
        pooled = {}
        for name, embed, source, width in (
            ("dnabert_s", model.dnabert_s.embed, shard.dnabert_s, model.dnabert_s.config.width),
            ("esm2", model.esm2.embed, shard.esm2, model.esm2.config.width),
        ):
            shape = (len(source.worth), width)
            out = self._with_room(partial(torch.empty, shape, device=self._device))
            for planned in source.batches:
                halvings += self._embed(embed, source, planned, out, listener)
                # A frame is through when its protein is: ESM-2 comes second.
                listener.batch_done(*(source.worth_of(planned.batch) if name == "esm2" else (0, 0)))
            pooled[name] = self._spread(out, source)
        return Embeddings(**pooled, batch_halvings=halvings)

    def _spread(self, vectors: Tensor, source: EncoderInput) -> Tensor:
        """Vectors of distinct sequences [k, width] to all frames that have them, [f, width]."""
        if source.place is None:
            return vectors
        place = source.place.to(self._device, non_blocking=True)
        return self._with_room(partial(torch.index_select, vectors, 0, place))

    def _with_room(self, make: Callable[[], Tensor]) -> Tensor:
        try:
            return make()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        free_cached_memory(self._device)
        return make()

    def _embed(
        self, embed: Embed, source: EncoderInput, planned: HostBatch, out: Tensor, listener: ShardListener
    ) -> int:
        """One planned batch, in several where the budget or the memory wants it; 1 if it was split, else 0.

        When memory runs out, the budget of this device is halved for good, cached memory is given back and
        the batch is tried again in smaller ones.
        """
        waiting, split = [planned], False
        while waiting:
            host = waiting.pop(0)
            if source.within(host.batch, self._budget.tokens):
                if self._fits(embed, host, out):
                    continue
                free_cached_memory(self._device)
                self._cut_budget(host.batch, listener)
            waiting[:0] = source.split(host.batch, self._budget.tokens)
            split = True
        return int(split)

    def _fits(self, embed: Embed, host: HostBatch, out: Tensor) -> bool:
        try:
            layout = SequenceLayout.from_lengths(host.batch.lengths, self._device)
            tokens = host.tokens.to(self._device, non_blocking=True)
            members = host.members.to(self._device, non_blocking=True)
            out.index_copy_(0, members, embed(tokens, layout)[: len(members)])
        except Exception as error:
            # The traceback holds the tensors of the failed batch, so nothing may be retried in here.
            if not is_out_of_memory(error):
                raise
            log.warning("out of memory with a batch of %d tokens: %s", host.batch.n_tokens, error)
            return False
        self._wait_if_far_ahead()
        return True

    def _cut_budget(self, batch: Batch, listener: ShardListener) -> None:
        before = self._budget.tokens
        if len(batch.members) == 1 or not self._budget.halve(batch.n_tokens):
            raise ShardFailedError(
                "out_of_memory",
                f"The device has too little memory even for a batch of {batch.n_tokens:,} tokens.",
            )
        listener.out_of_memory(before, self._budget.tokens)

    def _wait_if_far_ahead(self) -> None:
        if self._device.type != "cuda":
            return
        self._queued.append(recorded_event())
        while len(self._queued) > BATCHES_AHEAD:
            self._queued.popleft().synchronize()
