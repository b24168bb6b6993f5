"""Decides whether ESM-2's layers stay on a GPU or are copied to it one by one, from their sizes and before
anything is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.precision import DTYPES
from virnucpro_backend.inference.memory.memory_profile import (
    SHARE_FOR_BATCHES,
    SPARE_BYTES,
    Placement,
    PlacementChoice,
)
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
        return cls(_n_bytes(esm2) + _n_bytes(dnabert_s), sum(map(_n_bytes, esm2.layers)), per_token)


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
