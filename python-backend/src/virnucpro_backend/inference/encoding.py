"""The loop over a part's batches: copy a batch in, embed it, and store each frame's vector.

Only the limit on how far the host may run ahead waits for the device. When memory runs out, batches are
halved: see `_embed`. If an encoder's layers are streamed or mapped, several batches go through them together.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from virnucpro_backend.encoders import mapped_layers
from virnucpro_backend.encoders.batches import Batch
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import StepDone
from virnucpro_backend.encoders.streamed_layers import SWEEP_BATCHES, SWEEP_TOKENS
from virnucpro_backend.inference.batching import EncoderInput, HostBatch, PreparedPart
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.memory.device_memory import free_cached_memory, is_out_of_memory
from virnucpro_backend.inference.memory.memory_profile import SMALLEST_BUDGET
from virnucpro_backend.weights.model_folder import LoadedModel

BATCHES_AHEAD = 2
"""Batches that the host may queue on a GPU: enough to keep it busy, few enough to pause quickly."""

log = logging.getLogger(__name__)


class PartListener:
    """Receives the progress of a part; this base class ignores it."""

    def batch_done(self, frames: int, residues: int) -> None:
        """Called after a batch, with the frames and residues that both encoders have now done. May raise."""

    def step_done(self, residues: float) -> None:
        """Called after a layer, with its work in residues through all layers. May raise."""

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        """Called when the device's budget of tokens per batch is cut."""


def recorded_event() -> torch.cuda.Event:
    """Record an event behind all work now queued on the GPU; waiting for it sleeps rather than spins."""
    event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    event.record()
    return event


@dataclass
class Embeddings:
    """Pooled vectors in the part's order, FP32 on the device, and the number of batches that were split.

    imported_difference: one FP32 number on the device, the largest distance of an imported embedding from
    the one computed here, see `imported.LARGEST_DIFFERENCE`; None if none was imported.
    """

    dnabert_s: Tensor
    esm2: Tensor
    batch_halvings: int
    imported_difference: Tensor | None = None


@dataclass(frozen=True)
class _Work:
    """One encoder's work on a part. `embed` takes at most `together` batches at a time. Unless one batch
    alone has more, they have at most `sweep_tokens` tokens, and at most those of `full_batches` full batches.

    `out` FP32 [k, width] receives the vectors. `counts`: whether frames are done after this encoder.
    """

    embed: Callable[[Sequence[tuple[Tensor, SequenceLayout]], StepDone], list[Tensor]]
    together: int
    full_batches: int
    sweep_tokens: int
    source: EncoderInput
    out: Tensor
    counts: bool


class BatchLoop:
    """Runs the batches of parts through one model's encoders on one device.

    budget: how many tokens a batch may hold. It is cut when memory runs out and never grows again, because a
    size that did not fit once would fail repeatedly.
    """

    def __init__(self, model: LoadedModel, budget: int) -> None:
        self._model = model
        self._device = model.device
        self._budget = budget
        self._queued: deque[torch.cuda.Event] = deque()

    @torch.inference_mode()
    def embed(self, part: PreparedPart, listener: PartListener) -> Embeddings:
        """Embed all frames of a part: FP32 [f, 768] and [f, 2560] for the published models.

        Returns before a GPU has finished. Raises PartFailedError `out_of_memory` when the smallest batch
        does not fit, and whatever `listener` raises.
        """
        model = self._model
        dnabert_s, dna_halvings, dna_differs = self._vectors(
            model.dnabert_s, part.dnabert_s, listener, counts=False
        )
        # ESM-2 runs second, so a frame is done when its protein is.
        esm2, protein_halvings, protein_differs = self._vectors(model.esm2, part.esm2, listener, counts=True)
        compared = [value for value in (dna_differs, protein_differs) if value is not None]
        difference = torch.stack(compared).max() if compared else None
        return Embeddings(dnabert_s, esm2, dna_halvings + protein_halvings, difference)

    def _vectors(
        self, encoder: DnabertS | Esm2, source: EncoderInput, listener: PartListener, *, counts: bool
    ) -> tuple[Tensor, int, Tensor | None]:
        """Return one encoder's vectors of all frames, FP32 [f, width], the number of planned batches that
        were split, and the largest distance of imported vectors from computed ones."""
        shape = (len(source.represents), encoder.config.width)
        out = self._with_room(partial(torch.empty, shape, device=self._device))
        if encoder.mapped:
            together, sweep = len(source.batches), (mapped_layers.SWEEP_BATCHES, mapped_layers.SWEEP_TOKENS)
            work = _Work(encoder.embed_all, max(1, together), *sweep, source, out, counts)
        elif isinstance(encoder, Esm2) and encoder.streamed:
            work = _Work(encoder.embed_all, SWEEP_BATCHES, SWEEP_BATCHES, SWEEP_TOKENS, source, out, counts)
        else:
            work = _Work(partial(_one_by_one, encoder), 1, 1, 0, source, out, counts)
        imported = source.imported
        if imported is None:
            halvings = self._embed(work, listener)
            return self._spread(out, source), halvings, None
        vectors = self._with_room(lambda: torch.from_numpy(imported.vectors).to(self._device))
        places = torch.from_numpy(imported.places).to(self._device)
        out.index_copy_(0, places, vectors)
        if counts:
            listener.batch_done(*source.represented_by(imported.taken_over))
        halvings = self._embed(work, listener)
        compared = torch.from_numpy(imported.compared).to(self._device)
        computed = out[places[compared]]
        distance = torch.linalg.vector_norm(computed - vectors[compared], dim=1)
        share = distance / torch.linalg.vector_norm(computed, dim=1)
        # Non-finite values here don't count against the imported ones; they are recomputed in FP32.
        difference = torch.nan_to_num(share, nan=0.0, posinf=torch.inf).max()
        return self._spread(out, source), halvings, difference

    def _spread(self, vectors: Tensor, source: EncoderInput) -> Tensor:
        """Copy the vectors of distinct sequences [k, width] to all frames that have them, [f, width]."""
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

    def _embed(self, work: _Work, listener: PartListener) -> int:
        """Embed all planned batches, split if budget or memory requires it; return how many were split.

        When memory runs out, this device's budget is halved permanently, cached memory is freed and the
        batches are tried again as smaller ones.
        """
        waiting = deque(enumerate(work.source.batches))
        split: set[int] = set()
        while waiting:
            sweep = self._next_sweep(work, waiting, split)
            represented = [work.source.represented_by(host.batch.members) for _, host in sweep]
            frames, residues = (sum(column) for column in zip(*represented, strict=True))
            if not work.counts:
                frames = residues = 0
            if self._run(work, [host for _, host in sweep], partial(_report_step, listener, residues)):
                listener.batch_done(frames, residues)
                continue
            free_cached_memory(self._device)
            self._cut_budget([host.batch for _, host in sweep], listener)
            waiting.extendleft(reversed(sweep))
        return len(split)

    def _next_sweep(
        self, work: _Work, waiting: deque[tuple[int, HostBatch]], split: set[int]
    ) -> list[tuple[int, HostBatch]]:
        """Take batches to embed together, each with the number of the planned batch it comes from."""
        budget = self._budget
        room = min(work.sweep_tokens, work.full_batches * budget)
        sweep: list[tuple[int, HostBatch]] = []
        while waiting and len(sweep) < work.together:
            number, host = waiting.popleft()
            if not work.source.within(host.batch, budget):
                split.add(number)
                parts = work.source.split(host.batch, budget)
                waiting.extendleft((number, part) for part in reversed(parts))
                continue
            room -= host.batch.n_tokens
            if sweep and room < 0:
                waiting.appendleft((number, host))
                break
            sweep.append((number, host))
        return sweep

    def _run(self, work: _Work, hosts: Sequence[HostBatch], step_done: StepDone) -> bool:
        """Embed batches into `work.out`; return whether there was enough memory."""
        try:
            batches = [
                (
                    host.tokens.to(self._device, non_blocking=True),
                    SequenceLayout.from_lengths(host.batch.lengths, self._device),
                )
                for host in hosts
            ]
            for host, vectors in zip(hosts, work.embed(batches, step_done), strict=True):
                members = host.members.to(self._device, non_blocking=True)
                work.out.index_copy_(0, members, vectors[: len(members)])
        except Exception as error:
            # The traceback holds the tensors of the failed batches, so don't retry in this block.
            if not is_out_of_memory(error):
                raise
            sizes = [host.batch.n_tokens for host in hosts]
            log.warning("out of memory with batches of %s tokens: %s", sizes, error)
            return False
        for host in hosts:
            log.debug(
                "%s: batch of %d sequences, %d tokens",
                "esm2" if work.counts else "dnabert_s",
                len(host.members),
                host.batch.n_tokens,
            )
        self._wait_if_far_ahead()
        return True

    def _cut_budget(self, batches: Sequence[Batch], listener: PartListener) -> None:
        before, largest = self._budget, max(batch.n_tokens for batch in batches)
        after = min(before, largest) // 2
        alone = len(batches) == 1 and len(batches[0].members) == 1
        if alone or after < SMALLEST_BUDGET:
            raise PartFailedError(
                "out_of_memory",
                f"The device has too little memory even for a batch of {largest:,} tokens.",
            )
        self._budget = after
        listener.out_of_memory(before, after)

    def _wait_if_far_ahead(self) -> None:
        if self._device.type == "mps":
            # All batches of a part could be queued at once; the engine would see no step done until the last
            # is, and take the worker for stalled.
            torch.mps.synchronize()
        if self._device.type != "cuda":
            return
        self._queued.append(recorded_event())
        while len(self._queued) > BATCHES_AHEAD:
            self._queued.popleft().synchronize()


def _report_step(listener: PartListener, residues: int, share: float) -> None:
    listener.step_done(share * residues)


def _one_by_one(
    encoder: DnabertS | Esm2, batches: Sequence[tuple[Tensor, SequenceLayout]], _: StepDone
) -> list[Tensor]:
    return [encoder.embed(*batch) for batch in batches]
