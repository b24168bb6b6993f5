"""Whether ESM-2's layers stay on a GPU or come to it one by one, decided from sizes, before anything is
loaded.
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
"""Tokens; with smaller batches a GPU idles between them more than the copies of streamed layers cost."""

MAIN_MEMORY_LEFT = 1 << 30
"""Bytes that must stay free beside streamed layers, for the system and for this program."""


@dataclass(frozen=True)
class ModelSizes:
    """Bytes of all weights while they are being loaded, of ESM-2's layers, and about those that a token of a
    batch takes.
    """

    weights: int
    layers: int
    per_token: int

    @classmethod
    def of(cls, model: ModelDescription, precision: Precision) -> ModelSizes:
        """From the sizes of the encoders. FP8 weights are loaded as BF16 before they are turned into FP8."""
        dtype = DTYPES[precision]
        with torch.device("meta"):
            esm2, dnabert_s = Esm2(model.esm2, dtype), DnabertS(model.dnabert_s, dtype)
        # The residual stream in FP32; an update, what goes into a product and GELU's in- and output.
        per_token = 4 * model.esm2.width + dtype.itemsize * 2 * (model.esm2.width + model.esm2.feed_forward)
        return cls(_n_bytes(esm2) + _n_bytes(dnabert_s), sum(map(_n_bytes, esm2.layers)), per_token)


def placements_to_try(choice: PlacementChoice, sizes: ModelSizes, allowance: int) -> list[Placement]:
    """In this order; `allowance`: bytes that this process can hold on the device."""
    if choice != "auto":
        return [choice]
    batch = WORTHWHILE_BATCH * sizes.per_token / SHARE_FOR_BATCHES
    return ["resident", "streamed"] if sizes.weights + SPARE_BYTES + batch <= allowance else ["streamed"]


def main_memory_suffices(sizes: ModelSizes, available: int) -> bool:
    """Whether streamed layers have room; yes where the system does not say how much is free (0)."""
    return available == 0 or sizes.layers + MAIN_MEMORY_LEFT <= available


def _n_bytes(module: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in module.state_dict().values())
