"""The rows of the benchmark: each makes its model, times it and lets it go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from virnucpro_backend.bench.models import random_dnabert_s, random_esm2, random_hugging_face_esm2
from virnucpro_backend.bench.timing import Step, Timing, time_steps
from virnucpro_backend.bench.workloads import DNA500, ESM2_SPECIAL_TOKENS, ORF500, SHORT, Lengths, Workload
from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.precision import Precision

FIRST_LETTER, LETTERS = 5, 19
"""Tokens 5 to 23 are ordinary in both vocabularies."""

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
    """Times the row; the text says which code ran."""


def _esm2(precision: Precision, workload: Workload, *, eager: bool = False) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_esm2(precision, settings.device, eager=eager)
        return _time_encoder(model, workload, settings), f"{model.ops.name}, {model.attention.name} attention"

    how = "without fused kernels, " if eager else ""
    return Row(f"ESM-2 3B {precision.upper()}, {how}{workload.name}", workload.unit, run)


def _dnabert_s(precision: Precision, workload: Workload) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_dnabert_s(precision, settings.device)
        return _time_encoder(model, workload, settings), f"{model.ops.name}, {model.attention.name} attention"

    return Row(f"DNABERT-S {precision.upper()}, {workload.name}", workload.unit, run)


def _hugging_face(workload: Workload) -> Row:
    def run(settings: Settings) -> tuple[Timing, str]:
        model = random_hugging_face_esm2(settings.device)

        @torch.inference_mode()
        def embed(tokens: Tensor, kept: Tensor) -> Tensor:
            hidden = model(input_ids=tokens, attention_mask=kept).last_hidden_state
            residues = kept[:, 2:, None]  # all but the first and the last token of the longest
            means: Tensor = (hidden[:, 1:-1] * residues).sum(1) / residues.sum(1)
            return means

        def step(lengths: Lengths) -> Step:
            kept = torch.from_numpy(np.arange(lengths.max()) < lengths[:, None]).to(settings.device)
            tokens = torch.randint(FIRST_LETTER, FIRST_LETTER + LETTERS, kept.shape, device=settings.device)
            return Step(lambda: embed(tokens, kept), workload.counted(lengths))

        lengths = np.sort(workload.lengths())[::-1]
        per_batch = settings.tokens_per_batch // int(lengths.max())
        parts = np.array_split(lengths, -(-len(lengths) // per_batch))
        return time_steps([step(part) for part in parts], settings.seconds, settings.device), "sdpa, padded"

    return Row(f"Hugging Face EsmModel 3B BF16, sorted, {workload.name}", workload.unit, run)


def _products(precision: Precision, workload: Workload) -> Row:
    """Ceiling: only the matrix products of the workload, without bias, layer by layer."""

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
    """The worker's way: packed batches, each with its own layout, copied in and pooled."""
    lengths = workload.lengths()
    plan = packed_batches if model.attention.packs else equal_length_batches

    def step(batch: Batch) -> Step:
        tokens = torch.randint(FIRST_LETTER, FIRST_LETTER + LETTERS, (batch.n_tokens,), dtype=torch.int32)
        tokens = tokens.pin_memory()

        def launch() -> None:
            layout = SequenceLayout.from_lengths(batch.lengths, settings.device)
            model.embed(tokens.to(settings.device, non_blocking=True), layout)

        return Step(launch, workload.counted(lengths[batch.members]))

    steps = [step(batch) for batch in plan(lengths, settings.tokens_per_batch)]
    return time_steps(steps, settings.seconds, settings.device)


ROWS: dict[str, Row] = {
    "esm2-bf16-orf500": _esm2("bf16", ORF500),
    "esm2-bf16-short": _esm2("bf16", SHORT),
    "esm2-fp16-orf500": _esm2("fp16", ORF500),
    "esm2-fp16-short": _esm2("fp16", SHORT),
    "esm2-fp8-orf500": _esm2("fp8", ORF500),
    "esm2-bf16-orf500-eager": _esm2("bf16", ORF500, eager=True),
    "dnabert-500": _dnabert_s("bf16", DNA500),
    "hugging-face-bf16-orf500": _hugging_face(ORF500),
    "hugging-face-bf16-short": _hugging_face(SHORT),
    "products-bf16": _products("bf16", ORF500),
    "products-fp16": _products("fp16", ORF500),
}
