"""Encoders of the published shapes with random weights, made on the device: no file and no download."""

from __future__ import annotations

import torch
from torch import nn

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2
from virnucpro_backend.encoders.precision import DTYPES


def random_esm2(precision: Precision, device: torch.device, *, eager: bool = False) -> Esm2:
    """ESM-2 3B. `eager`: without fused kernels."""
    with torch.device(device):
        model = Esm2(ESM2_3B, DTYPES[precision])
    randomize(model)
    model.to(device).use_kernels_for(device, fused=not eager)
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
