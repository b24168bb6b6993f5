"""What a model takes of a device's memory: computed from its sizes before loading, measured afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from virnucpro_backend import __version__
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.precision import DTYPES
from virnucpro_backend.encoders.streamed_layers import SWEEP_BATCHES
from virnucpro_backend.inference.memory.memory_profile import (
    SHARE_FOR_BATCHES,
    SPARE_BYTES,
    MemoryProfile,
    Placement,
    PlacementChoice,
    profile_through,
    wider,
)
from virnucpro_backend.inference.warm_up import SOME_TOKEN
from virnucpro_backend.weights.model_folder import LoadedModel
from virnucpro_backend.weights.model_json import ModelDescription

WORTHWHILE_BATCH = 2048
"""In tokens; with smaller batches, the GPU loses more time idling than copying streamed layers costs."""

MAIN_MEMORY_LEFT = 1 << 30
"""Bytes that streamed layers must leave free for the system and for this program."""


@dataclass(frozen=True)
class ModelSizes:
    """Bytes of all weights during loading, of ESM-2's layers, and the approximate bytes per token of a
    batch.
    """

    weights: int
    layers: int
    per_token: int

    @classmethod
    def of(cls, model: ModelDescription, precision: Precision) -> ModelSizes:
        """Compute the sizes from the encoders. FP8 weights are loaded as BF16 and then converted."""
        dtype = DTYPES[precision]
        with torch.device("meta"):
            esm2, dnabert_s = Esm2(model.esm2, dtype), DnabertS(model.dnabert_s, dtype)
        # The residual stream in FP32; an update, a product's input, and GELU's input and output.
        per_token = 4 * model.esm2.width + dtype.itemsize * 2 * (model.esm2.width + model.esm2.feed_forward)
        return cls(_n_bytes(esm2) + _n_bytes(dnabert_s), sum(map(_n_bytes, esm2.resident_layers)), per_token)


def placements_to_try(choice: PlacementChoice, sizes: ModelSizes, allowance: int) -> list[Placement]:
    """The placements in the order to try; `allowance`: bytes that this process can hold on the device."""
    if choice != "auto":
        return [choice]
    batch = WORTHWHILE_BATCH * sizes.per_token / SHARE_FOR_BATCHES
    return ["resident", "streamed"] if sizes.weights + SPARE_BYTES + batch <= allowance else ["streamed"]


def main_memory_suffices(sizes: ModelSizes, available: int) -> bool:
    """Whether streamed layers fit; assumed if the system doesn't say how much is free (0)."""
    return available == 0 or sizes.layers + MAIN_MEMORY_LEFT <= available


def _n_bytes(module: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in module.state_dict().values())


FEW_TOKENS, MORE_TOKENS = 512, 2048
SEQUENCE_LENGTH = 256
"""Longer than a frame of a 500-bp chunk: an upper bound if attention's memory depends on length."""


def placement_of(model: LoadedModel) -> Placement:
    """Where ESM-2's layers are."""
    return "streamed" if model.esm2.streamed else "resident"


def software(model: LoadedModel) -> str:
    """Names the software that a measurement depends on; it is invalid with any other."""
    esm2, dnabert_s = model.esm2, model.dnabert_s
    names = (esm2.ops.name, esm2.attention.name, dnabert_s.ops.name, dnabert_s.attention.name)
    return f"version {__version__}, PyTorch {torch.__version__}, {'/'.join(names)}"


@torch.inference_mode()
def measure_profile(model: LoadedModel) -> MemoryProfile:
    """Measure a model on a GPU whose kernels are already loaded. Raises torch.OutOfMemoryError.

    Streamed layers are measured as they are used, with several batches at a time.
    """
    sweep = SWEEP_BATCHES if model.esm2.streamed else 1
    return wider(
        _profile(model, lambda batch: model.esm2.embed_all([batch] * sweep)),
        _profile(model, lambda batch: model.dnabert_s.embed_all([batch])),
    )


def _profile(
    model: LoadedModel, embed: Callable[[tuple[Tensor, SequenceLayout]], list[Tensor]]
) -> MemoryProfile:
    few, more = (
        (tokens, _peak(model.device, partial(embed, _batch(tokens, model.device))))
        for tokens in (FEW_TOKENS, MORE_TOKENS)
    )
    return profile_through(few, more, placement_of(model), software(model))


def _batch(n_tokens: int, device: torch.device) -> tuple[Tensor, SequenceLayout]:
    layout = SequenceLayout.from_lengths([SEQUENCE_LENGTH] * (n_tokens // SEQUENCE_LENGTH), device)
    return torch.full((n_tokens,), SOME_TOKEN, dtype=torch.int32, device=device), layout


def _peak(device: torch.device, work: Callable[[], object]) -> int:
    """Peak bytes of tensors on the device during some work, including earlier tensors."""
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    torch.cuda.synchronize(device)
    return int(torch.cuda.max_memory_allocated(device))
