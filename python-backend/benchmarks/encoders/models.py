"""Encoders of the published shapes with random weights, made on the device without a file."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2
from virnucpro_backend.encoders.precision import DTYPES

Kernels = Literal["all", "general", "none"]
"""Which kernels to use: all, all but those for Hopper GPUs, or none (plain PyTorch)."""


def random_esm2(precision: Precision, device: torch.device, kernels: Kernels = "all") -> Esm2:
    """Make an ESM-2 3B with random weights."""
    with torch.device(device):
        model = Esm2(ESM2_3B, DTYPES[precision])
    randomize(model)
    model.to(device).use_kernels_for(device, fused=kernels != "none")
    if kernels == "general":
        from virnucpro_backend.encoders.kernels.fused import FusedAttention, FusedOps

        model.ops, model.attention = FusedOps(), FusedAttention()
    if precision == "fp8":
        model.to_fp8()
    return model


def random_dnabert_s(precision: Precision, device: torch.device) -> DnabertS:
    """Make a DNABERT-S with random weights."""
    with torch.device(device):
        model = DnabertS(DNABERT_S, DTYPES[precision])
    randomize(model)
    model.to(device).use_kernels_for(device)
    return model


def randomize(model: nn.Module) -> None:
    """Unit gain for matrices and unit variance for embeddings keep activations in a realistic range."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                parameter.normal_(0.0, 1.0 if "embedding" in name else parameter.shape[1] ** -0.5)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.02)
