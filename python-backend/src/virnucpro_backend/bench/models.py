"""Encoders of the published shapes with random weights, made on the device: no file and no download."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.precision import DTYPES, Precision

ESM2_3B = Esm2Config(layers=36, width=2560, heads=40, feed_forward=10240)
DNABERT_S = DnabertSConfig(layers=12, width=768, heads=12, feed_forward=3072, vocabulary=4096)


def random_esm2(precision: Precision, device: torch.device, *, eager: bool = False) -> Esm2:
    """ESM-2 3B. `eager`: without fused kernels."""
    with torch.device(device):
        model = Esm2(ESM2_3B, DTYPES[precision])
    _randomize(model)
    model.to(device).use_kernels_for(device, fused=not eager)
    if precision == "fp8":
        model.to_fp8()
    return model


def random_dnabert_s(precision: Precision, device: torch.device) -> DnabertS:
    """DNABERT-S."""
    with torch.device(device):
        model = DnabertS(DNABERT_S, DTYPES[precision])
    _randomize(model)
    model.to(device).use_kernels_for(device)
    return model


def random_hugging_face_esm2(device: torch.device) -> Any:
    """ESM-2 3B as the transformers library runs it best: BF16 and PyTorch's scaled dot-product attention."""
    from transformers import EsmConfig, EsmModel

    config = EsmConfig(  # type: ignore[call-arg]
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
    with torch.device(device):
        model = EsmModel(config, add_pooling_layer=False)
    _randomize(model)
    return model.to(torch.bfloat16).eval()  # type: ignore[arg-type]


def _randomize(model: nn.Module) -> None:
    """Matrices of unit gain, embeddings of unit variance: activations stay in a trained model's range."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                parameter.normal_(0.0, 1.0 if "embedding" in name else parameter.shape[1] ** -0.5)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.02)
