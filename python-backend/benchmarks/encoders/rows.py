"""The rows of the benchmark; each makes its model, times it and frees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.encoders.anchors import (
    ORIGINAL_TOKENS_PER_BATCH,
    RowUnavailableError,
    fair_esm_steps,
    hugging_face_steps,
    random_fair_esm2,
    random_hugging_face_esm2,
)
from benchmarks.encoders.models import Kernels, random_dnabert_s, random_esm2
from benchmarks.encoders.timing import Step, Timing, time_steps
from benchmarks.encoders.workloads import (
    DNA500,
    ESM2_SPECIAL_TOKENS,
    FIRST_LETTER,
    LETTERS,
    ORF500,
    SHARE_OF_COPIES,
    SHORT,
    Lengths,
    Workload,
    originals,
)
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout

ESM2_PRODUCTS = ((2560, 7680), (2560, 2560), (2560, 10240), (10240, 2560))
"""Inputs and outputs of the four matrix products of a layer of ESM-2 3B."""


@dataclass(frozen=True)
class Settings:
    """Device, tokens per batch, and how long to measure, in seconds."""

    device: torch.device
    tokens_per_batch: int
    seconds: float


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    title: str
    unit: str
    run: Callable[[Settings], tuple[Timing, str]]
    """Times the row; the text says which code ran. Raises RowUnavailableError."""

    tokens_per_batch: int | None = None
    """Overrides the settings for this row."""


def _esm2(precision: Precision, workload: Workload, kernels: Kernels = "all") -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        if kernels == "general":
            _need_gpu(settings)
        model = random_esm2(precision, settings.device, kernels)
        return _time_encoder(model, workload, settings), _code_of(model)

    how = {"all": "", "general": "without the kernels for Hopper, ", "none": "without fused kernels, "}[
        kernels
    ]
    return Row(f"ESM-2 3B {precision.upper()}, {how}{workload.name}", workload.unit, run)


def _dnabert_s(precision: Precision, workload: Workload) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_dnabert_s(precision, settings.device)
        return _time_encoder(model, workload, settings), _code_of(model)

    return Row(f"DNABERT-S {precision.upper()}, {workload.name}", workload.unit, run)


def _esm2_copies(precision: Precision, workload: Workload) -> Row:
    """Embed equal proteins once and copy their vectors to all proteins; the rate counts all of them."""

    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_esm2(precision, settings.device)
        lengths = workload.lengths()
        first, place = np.unique(originals(len(lengths)), return_inverse=True)
        lengths = lengths[first]
        worth = np.bincount(place) * (lengths - ESM2_SPECIAL_TOKENS)
        steps = _encoder_steps(model, lengths, lambda members: int(worth[members].sum()), settings)
        vectors = torch.zeros(len(first), model.config.width, device=settings.device)
        places = torch.from_numpy(place).to(settings.device)
        steps.append(Step(lambda: vectors[places], 0))
        return time_steps(steps, settings.seconds, settings.device), _code_of(model)

    share = f"{100 * SHARE_OF_COPIES:.0f} % copies"
    return Row(
        f"ESM-2 3B {precision.upper()}, {workload.name} with {share}, equal proteins once",
        workload.unit,
        run,
    )


def _hugging_face(workload: Workload) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_hugging_face_esm2(settings.device)
        steps = hugging_face_steps(model, workload.lengths(), settings.tokens_per_batch, settings.device)
        return time_steps(steps, settings.seconds, settings.device), "sdpa, padded"

    return Row(f"Hugging Face EsmModel 3B BF16, sorted, {workload.name}", workload.unit, run)


def _fair_esm(workload: Workload) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_fair_esm2(settings.device)
        steps = fair_esm_steps(model, workload.lengths(), settings.device)
        return time_steps(steps, settings.seconds, settings.device), "fair-esm, padded"

    return Row(
        f"fair-esm 3B FP32, {ORIGINAL_TOKENS_PER_BATCH} tokens a batch, {workload.name}",
        workload.unit,
        run,
        ORIGINAL_TOKENS_PER_BATCH,
    )


def _products(precision: Precision, workload: Workload) -> Row:
    """Time only the workload's matrix products, without bias, layer by layer, as an upper bound."""

    def run(settings: Settings) -> tuple[Timing, str]:
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[precision]
        weights = [
            torch.randn(outputs, inputs, device=settings.device, dtype=dtype) * inputs**-0.5
            for inputs, outputs in ESM2_PRODUCTS
        ]
        rows = settings.tokens_per_batch
        inputs = {
            width: torch.randn(rows, width, device=settings.device, dtype=dtype) for width in (2560, 10240)
        }

        def launch() -> None:
            for _ in range(36):
                for weight in weights:
                    inputs[weight.shape[1]] @ weight.t()

        longest = int(workload.lengths().max())
        counted = round(rows * (longest - ESM2_SPECIAL_TOKENS) / longest)
        return time_steps([Step(launch, counted)], settings.seconds, settings.device), "cuBLAS"

    return Row(
        f"ceiling: the matrix products alone, {precision.upper()}, {workload.name}", workload.unit, run
    )


def _time_encoder(model: Esm2 | DnabertS, workload: Workload, settings: Settings) -> Timing:
    lengths = workload.lengths()
    steps = _encoder_steps(model, lengths, lambda members: workload.counted(lengths[members]), settings)
    return time_steps(steps, settings.seconds, settings.device)


def _encoder_steps(
    model: Esm2 | DnabertS,
    lengths: Lengths,
    worth: Callable[[npt.NDArray[np.int64]], int],
    settings: Settings,
) -> list[Step]:
    """Make steps that work like the worker: packed batches with their layouts, copied in and pooled."""
    plan = packed_batches if model.attention.packs else equal_length_batches

    def step(batch: Batch) -> Step:
        tokens = torch.randint(FIRST_LETTER, FIRST_LETTER + LETTERS, (batch.n_tokens,), dtype=torch.int32)
        tokens = tokens.pin_memory()

        def launch() -> None:
            layout = SequenceLayout.from_lengths(batch.lengths, settings.device)
            model.embed(tokens.to(settings.device, non_blocking=True), layout)

        return Step(launch, worth(batch.members))

    return [step(batch) for batch in plan(lengths, settings.tokens_per_batch)]


def _need_gpu(settings: Settings) -> None:
    """Raise RowUnavailableError without an NVIDIA GPU, which all of Triton's kernels need."""
    if settings.device.type != "cuda":
        raise RowUnavailableError("Triton's kernels need an NVIDIA GPU")


def _code_of(model: Esm2 | DnabertS) -> str:
    return f"{model.ops.name}, {model.attention.name} attention"


ROWS: dict[str, Row] = {
    "esm2-bf16-orf500": _esm2("bf16", ORF500),
    "esm2-bf16-short": _esm2("bf16", SHORT),
    "esm2-fp16-orf500": _esm2("fp16", ORF500),
    "esm2-fp16-short": _esm2("fp16", SHORT),
    "esm2-fp8-orf500": _esm2("fp8", ORF500),
    "esm2-bf16-orf500-general": _esm2("bf16", ORF500, "general"),
    "esm2-bf16-orf500-eager": _esm2("bf16", ORF500, "none"),
    "esm2-bf16-short-general": _esm2("bf16", SHORT, "general"),
    "esm2-bf16-short-eager": _esm2("bf16", SHORT, "none"),
    "esm2-bf16-short-copies": _esm2_copies("bf16", SHORT),
    "dnabert-500": _dnabert_s("bf16", DNA500),
    "hugging-face-bf16-orf500": _hugging_face(ORF500),
    "hugging-face-bf16-short": _hugging_face(SHORT),
    "fair-esm-fp32-orf500": _fair_esm(ORF500),
    "fair-esm-fp32-short": _fair_esm(SHORT),
    "products-bf16": _products("bf16", ORF500),
    "products-fp16": _products("fp16", ORF500),
}
