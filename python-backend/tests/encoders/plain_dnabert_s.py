"""A plain second implementation of DNABERT-S: one sequence, float64, with the published names.

It was written from the description of the architecture and shares no code with the package.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

PUBLISHED_SLOPES_12 = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
PUBLISHED_SLOPES_12 += [0.707107, 0.353553, 0.176777, 0.088388]


def slope_table(heads: int) -> list[float]:
    powers = [2.0 ** -(8 * k / heads) for k in range(1, heads + 1)]
    if heads & (heads - 1) == 0:
        return powers
    below = 2 ** int(math.log2(heads))
    return slope_table(below) + slope_table(2 * below)[0::2][: heads - below]


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(dim=-1, keepdim=True) + 1e-12) * weight + bias


def plain_dnabert_s(tensors: dict[str, Tensor], layers: int, heads: int, tokens: Tensor) -> Tensor:
    """Compute hidden states float64 [tokens, width] after the last layer."""
    w = {name: tensor.double() for name, tensor in tensors.items()}
    x = torch.stack([w["embeddings.word_embeddings.weight"][t] for t in tokens.tolist()])
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])
    n, width = x.shape
    size = width // heads
    distance = torch.tensor([[abs(i - j) for j in range(n)] for i in range(n)]).double()
    for layer in range(layers):
        p = f"encoder.layer.{layer}."
        qkv = x @ w[p + "attention.self.Wqkv.weight"].T + w[p + "attention.self.Wqkv.bias"]
        contexts = []
        for head, slope in enumerate(slope_table(heads)):
            q = qkv[:, head * size : (head + 1) * size]
            k = qkv[:, width + head * size : width + (head + 1) * size]
            v = qkv[:, 2 * width + head * size : 2 * width + (head + 1) * size]
            scores = q @ k.T / math.sqrt(size) - slope * distance
            weights = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
            contexts.append(weights / weights.sum(dim=1, keepdim=True) @ v)
        dense = torch.cat(contexts, dim=1) @ w[p + "attention.output.dense.weight"].T
        dense = dense + w[p + "attention.output.dense.bias"]
        norm = p + "attention.output.LayerNorm."
        x = layer_norm(dense + x, w[norm + "weight"], w[norm + "bias"])
        gated = x @ w[p + "mlp.gated_layers.weight"].T
        left, right = gated[:, : gated.shape[1] // 2], gated[:, gated.shape[1] // 2 :]
        hidden = left * 0.5 * (1 + torch.erf(left / math.sqrt(2))) * right
        out = hidden @ w[p + "mlp.wo.weight"].T + w[p + "mlp.wo.bias"]
        x = layer_norm(out + x, w[p + "mlp.layernorm.weight"], w[p + "mlp.layernorm.bias"])
    return x
