"""Measures how fast a device runs both encoders, with random weights of the published widths.

All layers of ESM-2 take the same time, so only as many are computed as fit on any device, and the rate is
stated for all of them. For each batch size the device's plain matrix products of the same shapes are measured
too, as an upper bound. Rates are those of one worker, which on a processor is one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from virnucpro_backend.check.device import randomise
from virnucpro_backend.check.result import CheckResult
from virnucpro_backend.devices.opening import open_device
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2, ResidualStream
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.packed_linear import pack_linears, packing_is_faster
from virnucpro_backend.encoders.precision import DTYPES, forbid_hidden_rounding
from virnucpro_backend.inference.memory.device_memory import is_out_of_memory

ESM2_TOKENS, DNABERT_S_TOKENS = 168, 101
"""Tokens of a frame of a 500-bp chunk: 166 residues and two special tokens; byte pairs of its nucleotides."""

CPU_LAYERS, GPU_LAYERS = 2, 6
"""How many layers of ESM-2 3B are computed; each takes 0.3 GiB in FP32."""

CPU_BATCHES, GPU_BATCHES = (168, 512, 2048), (2048, 8192, 16_384, 24_576, 32_768)


def measure_speed(kind: DeviceKind, precision: Precision, seconds: float) -> CheckResult:
    """Measure the rates by tokens per batch. Raises LoadFailedError if the device can't be used."""
    forbid_hidden_rounding()
    device = open_device(kind, precision, None).device
    layers, sizes = (CPU_LAYERS, CPU_BATCHES) if kind == "cpu" else (GPU_LAYERS, GPU_BATCHES)
    esm2, dnabert_s = _encoders(layers, precision, device)
    matrices = [module.weight for module in esm2.modules() if isinstance(module, nn.Linear)]
    if kind == "cpu" and packing_is_faster(esm2.dtype):
        for layer in (*esm2.resident_layers, *dnabert_s.resident_layers):
            _pack(layer)
    each = seconds / (3 * len(sizes))
    rows = []
    for tokens in sizes:
        proteins, frames = max(1, tokens // ESM2_TOKENS), max(1, tokens // DNABERT_S_TOKENS)
        try:
            with torch.inference_mode():
                protein_seconds = _seconds_per_call(_through_layers(esm2, proteins), each, device)
                frame_seconds = _seconds_per_call(_through(dnabert_s, frames), each, device)
                product_seconds = _seconds_per_call(_products(matrices, proteins * ESM2_TOKENS), each, device)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            break
        residues = proteins * (ESM2_TOKENS - 2) * layers / ESM2_3B.layers
        rows.append(
            {
                "tokens_per_batch": proteins * ESM2_TOKENS,
                "esm2_residues_per_second": round(residues / protein_seconds, 1),
                "dnabert_s_frames_per_second": round(frames / frame_seconds, 1),
                "products_residues_per_second": round(residues / product_seconds, 1),
            }
        )
    kernels = f"{esm2.ops.name}, {esm2.attention.name} attention"
    figures = {"layers_of_esm2_computed": layers, "kernels": kernels, "rows": rows}
    return CheckResult(precision, "works", figures)


def _encoders(layers: int, precision: Precision, device: torch.device) -> tuple[Esm2, DnabertS]:
    """Make ESM-2 with these layers, and DNABERT-S, as loading a model folder would."""
    dtype = DTYPES[precision]
    with device:
        esm2, dnabert_s = Esm2(replace(ESM2_3B, layers=layers), dtype), DnabertS(DNABERT_S, dtype)
    for encoder in (esm2, dnabert_s):
        randomise(encoder.to(device), torch.Generator(device).manual_seed(1))
        encoder.use_kernels_for(device)
    if precision == "fp8":
        esm2.to_fp8()
    return esm2, dnabert_s


def _through_layers(esm2: Esm2, proteins: int) -> Callable[[], object]:
    """Run one batch through the layers, without `embed`, whose first layer uses a table by token."""
    layout, letters = _batch([ESM2_TOKENS] * proteins, esm2.embedding.weight.device)
    rotary = esm2.rotary.tables(layout.max_length)

    def run() -> None:
        x = ResidualStream(esm2.embedding(letters), layout, rotary)
        for layer in esm2.resident_layers:
            x = layer(x, esm2.ops, esm2.attention)

    return run


def _through(dnabert_s: DnabertS, frames: int) -> Callable[[], object]:
    layout, letters = _batch([DNABERT_S_TOKENS] * frames, dnabert_s.embedding.weight.device)
    return lambda: dnabert_s.embed(letters, layout)


def _batch(lengths: list[int], device: torch.device) -> tuple[SequenceLayout, Tensor]:
    layout = SequenceLayout.from_lengths(lengths, device)
    return layout, torch.randint(5, 24, (layout.n_tokens,), dtype=torch.int32).to(device)


def _pack(layer: nn.Module) -> None:
    """Pack the weights of a layer, as a worker does for each part."""
    plain = {name: linear.weight for name, linear in layer.named_children() if isinstance(linear, nn.Linear)}
    for name, linear in pack_linears(layer).items():
        linear.pack(plain[name])


def _products(matrices: Sequence[Tensor], rows: int) -> Callable[[], None]:
    """Compute only the matrix products of an encoder's layers."""
    inputs = {matrix.shape[1]: torch.randn(rows, matrix.shape[1]).to(matrices[0]) for matrix in matrices}

    def multiply() -> None:
        for matrix in matrices:
            inputs[matrix.shape[1]] @ matrix.t()

    return multiply


def _seconds_per_call(work: Callable[[], object], seconds: float, device: torch.device) -> float:
    """The mean over some seconds, after a first call that may compile kernels."""
    work()
    _wait_for(device)
    count, begun = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - begun < seconds:
        work()
        count += 1
        # Otherwise the host would run far ahead of the GPU, and only the queueing would be timed.
        _wait_for(device)
    return (time.perf_counter() - begun) / count


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
