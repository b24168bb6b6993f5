"""Computes a part's scores from its frames: both encoders, pooling, the head, and checks of the results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from virnucpro_backend.inference.batching import BatchPlan, PreparedPart, prepare_part
from virnucpro_backend.inference.commands import EmbeddingPrecision
from virnucpro_backend.inference.encoding import BatchLoop, Embeddings, PartListener, recorded_event
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.imported import LARGEST_DIFFERENCE, ImportedEmbeddings
from virnucpro_backend.inference.memory.device_memory import free_cached_memory, is_out_of_memory
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.weights.model_folder import LoadedModel

STATE_OK, STATE_RECOMPUTED_FP32, STATE_NON_FINITE = 0, 1, 2

RECOMPUTE_TOKENS_PER_BATCH = 4096

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddingNorms:
    """The lowest and highest Euclidean norm of each encoder's embeddings."""

    dnabert_s: tuple[float, float]
    esm2: tuple[float, float]


@dataclass(frozen=True)
class PartScores:
    """The results of a part, f frames in the part's order.

    score1 = P(others) and score2 = P(virus), FP32 [f]; state uint8 [f]: 0 ok, 1 ok after a recomputation in
    FP32, 2 not finite even then (both scores NaN). Embeddings FP16 or FP32 [f, width], only if the plan asks
    for them. norms: the lowest and highest Euclidean norm of each encoder's finite embeddings, None without
    any; outside_norm_band: frames with a norm outside the model's band, scored like the others.
    repeated_proteins, repeated_nucleotides: frames that share the encoder pass of an equal frame.
    esm2_batches, esm2_tokens: ESM-2's batches as planned, and the tokens in them.
    """

    score1: npt.NDArray[np.float32]
    score2: npt.NDArray[np.float32]
    state: npt.NDArray[np.uint8]
    embeddings: Mapping[str, npt.NDArray[np.generic]] | None
    norms: EmbeddingNorms | None
    outside_norm_band: int
    batch_halvings: int
    repeated_proteins: int
    repeated_nucleotides: int
    esm2_batches: int
    esm2_tokens: int

    @property
    def recomputed(self) -> int:
        """Number of frames successfully recomputed in FP32."""
        return int(np.count_nonzero(self.state == STATE_RECOMPUTED_FP32))

    @property
    def failed(self) -> int:
        """Number of frames without a score."""
        return int(np.count_nonzero(self.state == STATE_NON_FINITE))


@dataclass
class LaunchedPart:
    """A part whose work is queued on the device. `wait` may be called from any thread.

    `figures` FP32 [f, 4] on the host: score1, score2, and the norms of both embeddings;
    `imported_difference`: see Embeddings, but on the host. Neither may be read before `wait`.
    """

    part: PreparedPart
    on_device: Embeddings
    figures: Tensor
    embeddings: dict[str, Tensor] | None
    finished: torch.cuda.Event | None
    recomputed: npt.NDArray[np.bool_]
    imported_difference: Tensor | None = None

    def wait(self) -> None:
        """Block until the device has finished and the results are on the host."""
        if self.finished is not None:
            self.finished.synchronize()

    def imported_differ(self) -> bool:
        """Whether imported embeddings differ too much from those computed here."""
        return self.imported_difference is not None and float(self.imported_difference) > LARGEST_DIFFERENCE

    def non_finite(self) -> npt.NDArray[np.int64]:
        """Numbers of the frames with an embedding or a score that is not finite."""
        return np.flatnonzero(~np.isfinite(self.figures.numpy()).all(axis=1))


@dataclass
class PartScorer:
    """Scores parts with one model on its device. Use each method from one thread at a time.

    `prepare`, `launch` and `collect` are the stages of a pipeline; `score` runs all of them.
    `embed_equal_sequences_once`: whether frames of a part with the same letters share an encoder pass.
    `load_fp32` loads the same model in FP32 onto a given device, for frames whose results are not finite.
    `most_tokens_per_batch`: how much the device's memory holds, if that is less than the plan's.
    `imported`: embeddings that need not be computed. If they differ from this model's in any part, none is
    used from then on.
    """

    model: LoadedModel
    tokens_per_batch: int
    embed_equal_sequences_once: bool
    embeddings: EmbeddingPrecision | None
    load_fp32: Callable[[torch.device], LoadedModel]
    most_tokens_per_batch: int | None = None
    imported: ImportedEmbeddings | None = None
    device: torch.device = field(init=False)
    _loop: BatchLoop = field(init=False)
    _plan: BatchPlan = field(init=False)

    def __post_init__(self) -> None:
        self.device = self.model.device
        budget = min(self.tokens_per_batch, self.most_tokens_per_batch or self.tokens_per_batch)
        self._loop = BatchLoop(self.model, budget)
        self._plan = self._batch_plan(self.model, self.tokens_per_batch)

    def prepare(self, frames: PartFrames) -> PreparedPart:
        """Tokenize and batch. Uses no device, apart from pinning memory."""
        return prepare_part(frames, self.model.tokenizer, self._plan, self.imported)

    def launch(self, part: PreparedPart, listener: PartListener | None = None) -> LaunchedPart:
        """Queue all of a part's work on the device. Raises what `BatchLoop.embed` raises."""
        embeddings = self._loop.embed(part, listener or PartListener())
        return self._with_scores(part, embeddings, np.zeros(part.frames.count, dtype=np.bool_))

    def needs_recomputation(self, launched: LaunchedPart) -> bool:
        """Wait for the device and return whether some frames must be computed again: those with imported
        embeddings that are not this model's, or, in FP32, those with results that are not finite."""
        launched.wait()
        if launched.imported_differ():
            return True
        return (
            self.model.precision != "fp32"
            and not launched.recomputed.any()
            and len(launched.non_finite()) > 0
        )

    @torch.inference_mode()
    def recompute(self, launched: LaunchedPart, listener: PartListener | None = None) -> LaunchedPart:
        """Compute frames with non-finite results again in FP32; the others keep theirs. If imported
        embeddings were wrong, compute all frames in the run's precision instead.

        Raises PartFailedError `non_finite` if neither the device nor main memory has room for an FP32 model.
        """
        if launched.imported_differ():
            log.warning(
                "imported embeddings differ by %s: none is used any more", launched.imported_difference
            )
            self.imported = None
            return self.launch(self.prepare(launched.part.frames), listener)
        faulty = launched.non_finite()
        log.warning("recomputing %d of %d frames in FP32", len(faulty), launched.part.frames.count)
        again = self._in_fp32(launched.part.frames.subset(faulty), listener or PartListener())
        places = torch.from_numpy(faulty).to(self.device)
        on_device = launched.on_device
        on_device.dnabert_s.index_copy_(0, places, again.dnabert_s.to(self.device))
        on_device.esm2.index_copy_(0, places, again.esm2.to(self.device))
        recomputed = launched.recomputed.copy()
        recomputed[faulty] = True
        return self._with_scores(launched.part, on_device, recomputed)

    def collect(self, launched: LaunchedPart) -> PartScores:
        """Wait for a part and return the scores and the state of each frame."""
        launched.wait()
        figures = launched.figures.numpy()
        scores = figures[:, :2].copy()
        state = np.where(launched.recomputed, STATE_RECOMPUTED_FP32, STATE_OK).astype(np.uint8)
        bad = launched.non_finite()
        state[bad] = STATE_NON_FINITE
        scores[bad] = np.nan
        embeddings = launched.embeddings
        return PartScores(
            score1=np.ascontiguousarray(scores[:, 0]),
            score2=np.ascontiguousarray(scores[:, 1]),
            state=state,
            embeddings=None if embeddings is None else {name: t.numpy() for name, t in embeddings.items()},
            norms=_norm_range(figures[:, 2:]),
            outside_norm_band=self._outside_norm_band(figures[:, 2:]),
            batch_halvings=launched.on_device.batch_halvings,
            repeated_proteins=launched.part.repeated_proteins,
            repeated_nucleotides=launched.part.repeated_nucleotides,
            esm2_batches=len(launched.part.esm2.batches),
            esm2_tokens=launched.part.esm2.tokens,
        )

    def score(self, frames: PartFrames) -> PartScores:
        """Run all stages, one after the other."""
        launched = self.launch(self.prepare(frames))
        while self.needs_recomputation(launched):
            launched = self.recompute(launched)
        return self.collect(launched)

    @torch.inference_mode()
    def _with_scores(
        self, part: PreparedPart, on_device: Embeddings, recomputed: npt.NDArray[np.bool_]
    ) -> LaunchedPart:
        dnabert_s, esm2 = on_device.dnabert_s, on_device.esm2
        head = self.model.second_head if part.frames.of_second_look else None
        score1, score2 = (head or self.model.head).score(dnabert_s, esm2)
        norms = (torch.linalg.vector_norm(dnabert_s, dim=1), torch.linalg.vector_norm(esm2, dim=1))
        figures = _to_host(torch.stack((score1, score2, *norms), dim=1))
        embeddings = None
        if self.embeddings is not None:
            dtype = torch.float16 if self.embeddings == "fp16" else torch.float32
            embeddings = {"dnabert_s": _to_host(dnabert_s.to(dtype)), "esm2": _to_host(esm2.to(dtype))}
        difference = on_device.imported_difference
        difference = None if difference is None else _to_host(difference)
        finished = recorded_event() if self.device.type == "cuda" else None
        return LaunchedPart(part, on_device, figures, embeddings, finished, recomputed, difference)

    def _in_fp32(self, frames: PartFrames, listener: PartListener) -> Embeddings:
        for device in dict.fromkeys((self.device, torch.device("cpu"))):
            try:
                return self._in_fp32_on(device, frames, listener)
            except Exception as error:
                if not is_out_of_memory(error) and getattr(error, "code", None) != "out_of_memory":
                    raise
                log.warning("no room for the FP32 model on %s: %s", device, error)
            free_cached_memory(device)
        raise PartFailedError(
            "non_finite",
            f"{frames.count} sequences gave no finite result, "
            "and there is too little memory to compute them in FP32.",
        )

    def _in_fp32_on(self, device: torch.device, frames: PartFrames, listener: PartListener) -> Embeddings:
        model = self.load_fp32(device)
        plan = self._batch_plan(model, min(self.tokens_per_batch, RECOMPUTE_TOKENS_PER_BATCH))
        loop = BatchLoop(model, plan.tokens_per_batch)
        return loop.embed(prepare_part(frames, model.tokenizer, plan), listener)

    def _batch_plan(self, model: LoadedModel, tokens_per_batch: int) -> BatchPlan:
        return BatchPlan(
            tokens_per_batch,
            self.embed_equal_sequences_once,
            dnabert_s_packs=model.dnabert_s.attention.packs,
            esm2_packs=model.esm2.attention.packs,
            pin=model.device.type == "cuda",
        )

    def _outside_norm_band(self, norms: npt.NDArray[np.float32]) -> int:
        """Count the frames with finite embeddings whose norm is outside the model's band.

        They are reported but never refused: the bands come from a few frames, and short or repetitive frames
        may well lie outside.
        """
        bands = self.model.norm_bands
        if not bands:
            return 0
        outside = np.zeros(len(norms), dtype=np.bool_)
        for column, name in enumerate(("dnabert_s", "esm2")):
            if name in bands:
                band, norm = bands[name], norms[:, column]
                outside |= (norm < band.low) | (norm > band.high)
        return int(np.count_nonzero(outside & np.isfinite(norms).all(axis=1)))


def _norm_range(norms: npt.NDArray[np.float32]) -> EmbeddingNorms | None:
    finite = norms[np.isfinite(norms).all(axis=1)]
    if len(finite) == 0:
        return None
    low, high = finite.min(axis=0), finite.max(axis=0)
    return EmbeddingNorms(dnabert_s=(float(low[0]), float(high[0])), esm2=(float(low[1]), float(high[1])))


def _to_host(tensor: Tensor) -> Tensor:
    """Copy to the host; from a GPU, into pinned memory and without waiting."""
    if tensor.device.type != "cuda":
        return tensor.cpu()
    pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return pinned.copy_(tensor, non_blocking=True)
