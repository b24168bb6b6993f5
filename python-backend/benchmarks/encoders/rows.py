"""The rows of the benchmark: our encoders and other libraries' in the same run on the same GPU, all with
random weights of the published shapes, made on the device without a file."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from benchmarks.encoders.timing import Step
from virnucpro_backend.check.device import randomise
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.batches import Batch, equal_length_batches, packed_batches
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.precision import DTYPES

Lengths = npt.NDArray[np.int64]
Model = TypeVar("Model", bound=nn.Module)

SPECIAL_TOKENS = 2
"""`<cls>` and `<eos>` are computed but not counted as residues."""

LETTERS = (5, 24)
"""Tokens 5 to 23 are ordinary tokens in both vocabularies."""

RESIDUES = 262_144
"""About as many as one part has; every row repeats its sequences until its time is up."""

FRAME = 166
FRAMES: Lengths = np.full(RESIDUES // FRAME, FRAME + SPECIAL_TOKENS)
"""Tokens of frames of 500-bp chunks."""

SHORT: Lengths = np.random.default_rng(1).integers(30, 71, RESIDUES // 50) + SPECIAL_TOKENS
"""Tokens of frames of reads: uniformly 30 to 70 residues."""

DNA: Lengths = np.rint(np.random.default_rng(2).normal(101, 2.3, 4096)).astype(np.int64).clip(90, 112)
"""Tokens of 500-bp chunks: byte-pair encoding gives about 101 ± 2.3."""

ESM2_PRODUCTS = ((2560, 7680), (2560, 2560), (2560, 10240), (10240, 2560))
"""Inputs and outputs of the four matrix products of a layer of ESM-2 3B."""


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    title: str
    make: Callable[[torch.device, int], tuple[list[Step], str]]
    """Makes the work for a device and a number of tokens per batch; the text says which code does it. Raises
    ImportError if a library is missing."""

    unit: str = "residues/s"
    tokens_per_batch: int | None = None
    """Overrides the settings for this row."""


def _random(device: torch.device, build: Callable[[], Model]) -> Model:
    with torch.device(device), torch.no_grad():
        model = build()
        randomise(model, torch.Generator(device).manual_seed(0))
    # Tables that are computed by the processor, too.
    return model.to(device).eval()


def _esm2(title: str, precision: Precision, lengths: Lengths, general: bool = False) -> Row:
    """`general`: without the kernels for Hopper GPUs."""

    def make(device: torch.device, tokens_per_batch: int) -> tuple[list[Step], str]:
        model = _random(device, lambda: Esm2(ESM2_3B, DTYPES[precision]))
        model.use_kernels_for(device)
        if general:
            from virnucpro_backend.encoders.kernels.fused import FusedAttention, FusedOps

            model.ops, model.attention = FusedOps(), FusedAttention()
        if precision == "fp8":
            model.to_fp8()
        return _steps(model, lengths, lengths - SPECIAL_TOKENS, device, tokens_per_batch)

    return Row(f"ESM-2 3B {precision.upper()}, {title}", make)


def _dnabert_s(device: torch.device, tokens_per_batch: int) -> tuple[list[Step], str]:
    model = _random(device, lambda: DnabertS(DNABERT_S, DTYPES["bf16"]))
    model.use_kernels_for(device)
    return _steps(model, DNA, np.ones_like(DNA), device, tokens_per_batch)


def _steps(
    model: Esm2 | DnabertS, lengths: Lengths, worth: Lengths, device: torch.device, tokens_per_batch: int
) -> tuple[list[Step], str]:
    """Make steps that work like the worker: packed batches with their layouts, copied in and pooled. `worth`:
    how much each sequence counts in the rate."""
    plan = packed_batches if model.attention.packs else equal_length_batches

    def step(batch: Batch) -> Step:
        tokens = torch.randint(*LETTERS, (batch.n_tokens,), dtype=torch.int32)
        if device.type == "cuda":
            tokens = tokens.pin_memory()

        def launch() -> None:
            layout = SequenceLayout.from_lengths(batch.lengths, device)
            model.embed(tokens.to(device, non_blocking=True), layout)

        return Step(launch, int(worth[batch.members].sum()))

    code = f"{model.ops.name}, {model.attention.name} attention"
    return [step(batch) for batch in plan(lengths, tokens_per_batch)], code


def _hugging_face(device: torch.device, tokens_per_batch: int) -> tuple[list[Step], str]:
    """Time transformers' model in its fastest form: BF16 and PyTorch's scaled dot-product attention."""
    transformers = importlib.import_module("transformers")
    config = transformers.EsmConfig(
        vocab_size=33,
        mask_token_id=32,
        pad_token_id=1,
        hidden_size=ESM2_3B.width,
        num_hidden_layers=ESM2_3B.layers,
        num_attention_heads=ESM2_3B.heads,
        intermediate_size=ESM2_3B.feed_forward,
        position_embedding_type="rotary",
        token_dropout=True,
        attn_implementation="sdpa",
    )
    model = _random(device, lambda: transformers.EsmModel(config, add_pooling_layer=False))
    model = model.to(torch.bfloat16)
    sequences = tokens_per_batch // (FRAME + SPECIAL_TOKENS)
    tokens = torch.randint(*LETTERS, (sequences, FRAME + SPECIAL_TOKENS), device=device)
    kept = torch.ones_like(tokens, dtype=torch.bool)

    @torch.inference_mode()
    def launch() -> Tensor:
        hidden: Tensor = model(input_ids=tokens, attention_mask=kept).last_hidden_state
        return hidden[:, 1:-1].mean(1)

    return [Step(launch, sequences * FRAME)], "sdpa"


def _fair_esm(device: torch.device, tokens_per_batch: int) -> tuple[list[Step], str]:
    """Time fair-esm's model as the original tool runs it: in FP32, and the output of the last layer goes to
    the host, which averages residues."""
    esm = importlib.import_module("esm")
    layers = ESM2_3B.layers
    model = _random(device, lambda: esm.ESM2(layers, ESM2_3B.width, ESM2_3B.heads, token_dropout=True))
    # Its batches count one token besides the letters of a sequence.
    sequences = tokens_per_batch // (FRAME + 1)
    tokens = torch.randint(*LETTERS, (sequences, FRAME + SPECIAL_TOKENS))

    @torch.no_grad()
    def launch() -> Tensor:
        out = model(tokens.to(device), repr_layers=[layers], return_contacts=False)
        hidden = out["representations"][layers].to("cpu")
        return torch.stack([each[1:-1].mean(0) for each in hidden])

    return [Step(launch, sequences * FRAME)], "fair-esm"


def _products(device: torch.device, tokens_per_batch: int) -> tuple[list[Step], str]:
    """Time only the matrix products, without bias, layer by layer, as an upper bound."""
    inputs = {
        width: torch.randn(tokens_per_batch, width, device=device).bfloat16() for width in (2560, 10240)
    }
    weights = [
        (torch.randn(outputs, width, device=device) * width**-0.5).bfloat16()
        for width, outputs in ESM2_PRODUCTS
    ]

    def launch() -> None:
        for _ in range(36):
            for weight in weights:
                inputs[weight.shape[1]] @ weight.t()

    counted = round(tokens_per_batch * FRAME / (FRAME + SPECIAL_TOKENS))
    return [Step(launch, counted)], "cuBLAS"


ROWS: dict[str, Row] = {
    "esm2-bf16-orf500": _esm2("frames of 500 bp", "bf16", FRAMES),
    "esm2-bf16-short": _esm2("frames of reads", "bf16", SHORT),
    "esm2-fp8-orf500": _esm2("frames of 500 bp", "fp8", FRAMES),
    "esm2-bf16-orf500-general": _esm2("general kernels, frames of 500 bp", "bf16", FRAMES, general=True),
    "dnabert-500": Row("DNABERT-S BF16, chunks of 500 bp", _dnabert_s, "frames/s"),
    "hugging-face-bf16-orf500": Row("Hugging Face EsmModel 3B BF16, frames of 500 bp", _hugging_face),
    "fair-esm-fp32-orf500": Row("fair-esm 3B FP32, frames of 500 bp", _fair_esm, tokens_per_batch=2048),
    "products-bf16": Row("ceiling: the matrix products alone, BF16", _products),
}
