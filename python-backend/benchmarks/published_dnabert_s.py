"""DNABERT-S by the operations of its published model file, to be timed beside this program's encoder.

The file is `bert_layers.py` of https://huggingface.co/zhihan1996/DNABERT-S, without Triton's attention:
linear layers over all tokens without padding, and attention over padded sequences, with ALiBi as a bias.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from virnucpro_backend.encoders.dnabert_s import DNABERT_S, NORM_EPS, Alibi, DnabertSConfig
from virnucpro_backend.encoders.reference_attention import alibi_bias


class PublishedLayer(nn.Module):
    """A layer with random weights: hidden [n_tokens, width] -> [n_tokens, width]."""

    def __init__(self, config: DnabertSConfig) -> None:
        super().__init__()
        width, inner = config.width, config.feed_forward
        self.heads = config.heads
        self.qkv, self.attention_output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gated = nn.Linear(width, 2 * inner, bias=False)
        self.output = nn.Linear(inner, width)
        self.attention_norm, self.feed_forward_norm = (nn.LayerNorm(width, NORM_EPS) for _ in range(2))

    def forward(self, hidden: Tensor, places: Tensor, sequences: int, bias: Tensor) -> Tensor:
        """places: int64 [n_tokens], of each token in the padded batch; bias: [1, heads, length, length]."""
        length, width = bias.shape[-1], hidden.shape[1]
        qkv = hidden.new_zeros(sequences * length, 3 * width)
        qkv[places] = self.qkv(hidden)
        q, k, v = qkv.view(sequences, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias
        attended = (scores.softmax(-1) @ v).transpose(1, 2).reshape(sequences * length, width)[places]
        hidden = self.attention_norm(self.attention_output(attended) + hidden)
        gate, value = self.gated(hidden).chunk(2, -1)
        changed: Tensor = self.feed_forward_norm(self.output(functional.gelu(gate) * value) + hidden)
        return changed


class PublishedDnabertS(nn.Module):
    """The layers of DNABERT-S and the mean over each sequence."""

    def __init__(self, config: DnabertSConfig = DNABERT_S) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.norm = nn.LayerNorm(config.width, NORM_EPS)
        self.layers = nn.ModuleList(PublishedLayer(config) for _ in range(config.layers))
        self.alibi = Alibi(config.heads)

    @torch.inference_mode()
    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens int64 [sequences, length], none of them padding, to their means [sequences, width]."""
        sequences, length = tokens.shape
        bias = alibi_bias(self.alibi.slopes.float(), length)[None].to(self.norm.weight.dtype)
        places = torch.arange(sequences * length)
        hidden = self.norm(self.embedding(tokens.flatten()))
        for layer in self.layers:
            hidden = layer(hidden, places, sequences, bias)
        means: Tensor = hidden.reshape(sequences, length, -1).mean(1)
        return means
