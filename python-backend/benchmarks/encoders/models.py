"""Encoders of the published shapes with random weights, made on the device: no file and no download."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2
from virnucpro_backend.encoders.precision import DTYPES

Kernels = Literal["all", "general", "none"]
"""Which of the program's own: those for Hopper GPUs too, those that other GPUs use, or plain PyTorch."""


def random_esm2(precision: Precision, device: torch.device, kernels: Kernels = "all") -> Esm2:
    """ESM-2 3B."""
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
    """DNABERT-S."""
    with torch.device(device):
        model = DnabertS(DNABERT_S, DTYPES[precision])
    randomize(model)
    model.to(device).use_kernels_for(device)
    return model


def randomize(model: nn.Module) -> None:
    """Matrices of unit gain, embeddings of unit variance: activations stay in a trained model's range."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                parameter.normal_(0.0, 1.0 if "embedding" in name else parameter.shape[1] ** -0.5)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.02)
