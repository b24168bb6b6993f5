"""Small trainable versions of ESM-2, DNABERT-S and the classifier, since the backend's own encoders can't be
trained. Inputs are padded."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from virnucpro_backend.encoders.dnabert_s import NORM_EPS as DNABERT_S_EPS
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig, alibi_slopes
from virnucpro_backend.encoders.esm2 import NORM_EPS as ESM2_EPS
from virnucpro_backend.encoders.esm2 import VOCABULARY, Esm2Config
from virnucpro_backend.encoders.head import BATCH_NORM_EPS

ESM2_MASK = 32
DROPOUT = 0.1
HEAD_DROPOUT = 0.3


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """A linear layer, begun at random."""
    layer = nn.Linear(inputs, outputs, bias)
    nn.init.normal_(layer.weight, std=0.7 * inputs**-0.5)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def attend(qkv: Tensor, heads: int, mask: Tensor, rotate: tuple[Tensor, Tensor] | None) -> Tensor:
    """Attention over qkv [n, length, 3 * width]; `mask` is added to the scaled products."""
    n, length, width = qkv.shape
    q, k, v = qkv.view(n, length, 3, heads, width // (3 * heads)).permute(2, 0, 3, 1, 4)
    if rotate is not None:
        q, k = _rotated(q, *rotate), _rotated(k, *rotate)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(n, length, -1)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def _padding(present: Tensor) -> Tensor:
    """0 if a key may be attended to, else a large negative number: [n, 1, 1, length]."""
    return -1e4 * (~present)[:, None, None].float()


class Esm2TrainableLayer(nn.Module):
    """x = x + Wo attention(LN x); x = x + W2 gelu(W1 LN x)."""

    def __init__(self, config: Esm2Config) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.attention_norm = nn.LayerNorm(width, ESM2_EPS)
        self.qkv = linear(width, 3 * width)
        self.attention_output = linear(width, width)
        self.feed_forward_norm = nn.LayerNorm(width, ESM2_EPS)
        self.fc1 = linear(width, config.feed_forward)
        self.fc2 = linear(config.feed_forward, width)

    def forward(self, x: Tensor, mask: Tensor, rotate: tuple[Tensor, Tensor]) -> Tensor:
        context = attend(self.qkv(self.attention_norm(x)), self.heads, mask, rotate)
        x = x + F.dropout(self.attention_output(context), DROPOUT, self.training)
        inner = F.gelu(self.fc1(self.feed_forward_norm(x)))
        return x + F.dropout(self.fc2(inner), DROPOUT, self.training)


class Esm2Trainable(nn.Module):
    """ESM-2 with a linear layer that predicts masked residues."""

    def __init__(self, config: Esm2Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.randn(VOCABULARY, config.width))
        self.layers = nn.ModuleList(Esm2TrainableLayer(config) for _ in range(config.layers))
        self.final_norm = nn.LayerNorm(config.width, ESM2_EPS)
        self.guess = linear(config.width, VOCABULARY)

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Map tokens [n, length] to the last representation."""
        x = F.embedding(tokens, self.embedding)
        length, head_dim = tokens.shape[-1], self.config.head_dim
        frequencies = 10000 ** -(torch.arange(0, head_dim, 2, device=x.device) / head_dim)
        angles = (torch.arange(length, device=x.device)[:, None] * frequencies).repeat(1, 2)
        for layer in self.layers:
            x = layer(x, _padding(present), (angles.cos(), angles.sin()))
        normed: Tensor = self.final_norm(x)
        return normed

    @staticmethod
    def pool(x: Tensor, present: Tensor) -> Tensor:
        """The mean over the residues, without `<cls>` and `<eos>`."""
        last = present.sum(-1, keepdim=True) - 1
        place = torch.arange(present.shape[-1], device=x.device)
        residues = (present & (place > 0) & (place < last)).unsqueeze(-1)
        return (x * residues).sum(-2) / residues.sum(-2).clamp(min=1)


class DnabertSTrainableLayer(nn.Module):
    """x = LN(x + Wo attention(x)); x = LN(x + W2 (gelu(a) * b)), [a, b] = W1 x."""

    def __init__(self, config: DnabertSConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.qkv = linear(width, 3 * width)
        self.attention_output = linear(width, width)
        self.attention_norm = nn.LayerNorm(width, DNABERT_S_EPS)
        self.gated = linear(width, 2 * config.feed_forward, bias=False)
        self.output = linear(config.feed_forward, width)
        self.feed_forward_norm = nn.LayerNorm(width, DNABERT_S_EPS)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        context = attend(self.qkv(x), self.heads, mask, None)
        x = self.attention_norm(x + F.dropout(self.attention_output(context), DROPOUT, self.training))
        a, b = self.gated(x).chunk(2, -1)
        out: Tensor = self.feed_forward_norm(
            x + F.dropout(self.output(F.gelu(a) * b), DROPOUT, self.training)
        )
        return out


class DnabertSTrainable(nn.Module):
    """DNABERT-S, which predicts masked tokens with its own embedding table.

    `parts` int64 [vocabulary, n]: the parts of each token. Its vector is the sum of its own vector and those
    of its parts, so that what is learnt about a codon applies to every pair of codons with it.
    """

    parts: Tensor

    def __init__(self, config: DnabertSConfig, parts: Tensor) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("parts", parts)
        self.embedding = nn.Parameter(torch.randn(config.vocabulary, config.width) * 0.05)
        self.part_embedding = nn.Parameter(torch.randn(int(parts.max()) + 1, config.width) * 0.35)
        self.embedding_norm = nn.LayerNorm(config.width, DNABERT_S_EPS)
        self.layers = nn.ModuleList(DnabertSTrainableLayer(config) for _ in range(config.layers))
        self.guess = linear(config.width, config.width)

    def table(self) -> Tensor:
        """The vectors of all tokens [vocabulary, width]."""
        return self.embedding + self.part_embedding[self.parts].sum(1)

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Map tokens [n, length] to the last hidden state."""
        x: Tensor = self.embedding_norm(F.embedding(tokens, self.table()))
        place = torch.arange(tokens.shape[-1], device=x.device)
        slopes = torch.tensor(alibi_slopes(self.config.heads), device=x.device)
        mask = _padding(present) - (place[:, None] - place).abs() * slopes.view(1, -1, 1, 1)
        for layer in self.layers:
            x = layer(x, mask)
        return x

    @staticmethod
    def pool(x: Tensor, present: Tensor) -> Tensor:
        """The mean over all tokens."""
        kept = present.unsqueeze(-1)
        return (x * kept).sum(-2) / kept.sum(-2)


class HeadTrainable(nn.Module):
    """The classifier; its running statistics follow the batches."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden_layer = linear(inputs, hidden)
        self.bn1 = nn.BatchNorm1d(hidden, BATCH_NORM_EPS, momentum=0.02)
        self.output_layer = linear(hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Map embeddings [n, inputs] to logits [n, 2]."""
        x = self.bn1(self.hidden_layer(F.dropout(x, HEAD_DROPOUT * 0.3, self.training)))
        logits: Tensor = self.output_layer(F.dropout(torch.relu(x), HEAD_DROPOUT, self.training))
        return logits


class Model(nn.Module):
    """A complete model. `parts` int64 [vocabulary, n]: the parts of DNABERT-S's tokens."""

    def __init__(self, esm2: Esm2Config, dnabert_s: DnabertSConfig, hidden: int, parts: Tensor) -> None:
        super().__init__()
        self.esm2 = Esm2Trainable(esm2)
        self.dnabert_s = DnabertSTrainable(dnabert_s, parts)
        self.head = HeadTrainable(dnabert_s.width + esm2.width, hidden)

    def embed(self, proteins: Tensor, dna: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Map tokens [n, length], padded with -1, to the joined embeddings [n, width] and the last
        representations of both encoders."""
        esm2_present, dna_present = proteins >= 0, dna >= 0
        a = self.esm2(proteins.clamp(min=0), esm2_present)
        b = self.dnabert_s(dna.clamp(min=0), dna_present)
        joined = torch.cat((self.dnabert_s.pool(b, dna_present), self.esm2.pool(a, esm2_present)), -1)
        return joined, a, b
