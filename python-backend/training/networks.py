"""Small trainable versions of ESM-2, DNABERT-S and the classifier, for several models at once.

The backend's own encoders can't be trained. These hold `members` models of the same sizes, whose parameters
are stacked along a first dimension: a GPU trains sixteen of them in the time of one. Inputs are padded.
"""

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


class Linear(nn.Module):
    """A linear layer per member; maps x [members, ..., inputs] to [members, ..., outputs]."""

    def __init__(self, members: int, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(members, outputs, inputs) * inputs**-0.5 * 0.7)
        self.bias = nn.Parameter(torch.zeros(members, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(x.shape[0], -1, x.shape[-1])
        if self.bias is None:
            out = torch.bmm(flat, self.weight.to(flat.dtype).transpose(1, 2))
        else:
            out = torch.baddbmm(
                self.bias.to(flat.dtype)[:, None], flat, self.weight.to(flat.dtype).transpose(1, 2)
            )
        return out.view(*x.shape[:-1], -1)


class Norm(nn.Module):
    """A LayerNorm of every member."""

    def __init__(self, members: int, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(members, width))
        self.bias = nn.Parameter(torch.zeros(members, width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        shape = (x.shape[0], *[1] * (x.dim() - 2), x.shape[-1])
        x = F.layer_norm(x, x.shape[-1:], eps=self.eps)
        return torch.addcmul(self.bias.view(shape).to(x.dtype), x, self.weight.view(shape).to(x.dtype))


def look_up(table: Tensor, tokens: Tensor) -> Tensor:
    """Look up rows of every member's table [members, vocabulary, width] by tokens [members, n, length]."""
    members, vocabulary, width = table.shape
    if vocabulary <= 64:
        # Use a product: with so few rows, the gradients' atomic additions would wait for each other.
        chosen = F.one_hot(tokens, vocabulary).to(table.dtype)
        return torch.bmm(chosen.view(members, -1, vocabulary), table).view(*tokens.shape, width)
    first = torch.arange(members, device=tokens.device).view(-1, 1, 1) * vocabulary
    return F.embedding(tokens + first, table.view(-1, width))


def attend(qkv: Tensor, heads: int, mask: Tensor, rotate: tuple[Tensor, Tensor] | None) -> Tensor:
    """Attention over qkv [members, n, length, 3 * width]; `mask` is added to the scaled products."""
    members, n, length, width = qkv.shape
    q, k, v = qkv.view(members * n, length, 3, heads, width // (3 * heads)).permute(2, 0, 3, 1, 4)
    if rotate is not None:
        q, k = _rotated(q, *rotate), _rotated(k, *rotate)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(members, n, length, -1)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def _padding(present: Tensor, dtype: torch.dtype) -> Tensor:
    """0 if a key may be attended to, else a large negative number: [members * n, 1, 1, length]."""
    flat = present.reshape(-1, 1, 1, present.shape[-1])
    return torch.zeros(flat.shape, device=present.device, dtype=dtype).masked_fill(~flat, -1e4)


class Esm2TrainableLayer(nn.Module):
    """x = x + Wo attention(LN x); x = x + W2 gelu(W1 LN x)."""

    def __init__(self, members: int, config: Esm2Config) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.attention_norm = Norm(members, width, ESM2_EPS)
        self.qkv = Linear(members, width, 3 * width)
        self.attention_output = Linear(members, width, width)
        self.feed_forward_norm = Norm(members, width, ESM2_EPS)
        self.fc1 = Linear(members, width, config.feed_forward)
        self.fc2 = Linear(members, config.feed_forward, width)

    def forward(self, x: Tensor, mask: Tensor, rotate: tuple[Tensor, Tensor], rate: float) -> Tensor:
        context = attend(self.qkv(self.attention_norm(x)), self.heads, mask, rotate)
        x = x + F.dropout(self.attention_output(context), rate, self.training)
        inner = F.gelu(self.fc1(self.feed_forward_norm(x)))
        return x + F.dropout(self.fc2(inner), rate, self.training)


class Esm2Trainable(nn.Module):
    """ESM-2 with a linear layer that predicts masked residues."""

    def __init__(self, members: int, config: Esm2Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.randn(members, VOCABULARY, config.width))
        self.layers = nn.ModuleList(Esm2TrainableLayer(members, config) for _ in range(config.layers))
        self.final_norm = Norm(members, config.width, ESM2_EPS)
        self.guess = Linear(members, config.width, VOCABULARY)

    def forward(self, tokens: Tensor, present: Tensor, rate: float, dtype: torch.dtype) -> Tensor:
        """Map tokens [members, n, length] to the last representation."""
        x = look_up(self.embedding.to(dtype), tokens)
        length, head_dim = tokens.shape[-1], self.config.head_dim
        frequencies = 10000 ** -(torch.arange(0, head_dim, 2, device=x.device) / head_dim)
        angles = (torch.arange(length, device=x.device)[:, None] * frequencies).repeat(1, 2)
        rotate, mask = (angles.cos().to(dtype), angles.sin().to(dtype)), _padding(present, dtype)
        for layer in self.layers:
            x = layer(x, mask, rotate, rate)
        normed: Tensor = self.final_norm(x)
        return normed

    @staticmethod
    def pool(x: Tensor, present: Tensor) -> Tensor:
        """The mean over the residues, without `<cls>` and `<eos>`."""
        last = present.sum(-1, keepdim=True) - 1
        place = torch.arange(present.shape[-1], device=x.device)
        residues = (present & (place > 0) & (place < last)).unsqueeze(-1)
        return (x * residues).sum(-2, dtype=torch.float32) / residues.sum(-2).clamp(min=1)


class DnabertSTrainableLayer(nn.Module):
    """x = LN(x + Wo attention(x)); x = LN(x + W2 (gelu(a) * b)), [a, b] = W1 x."""

    def __init__(self, members: int, config: DnabertSConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.qkv = Linear(members, width, 3 * width)
        self.attention_output = Linear(members, width, width)
        self.attention_norm = Norm(members, width, DNABERT_S_EPS)
        self.gated = Linear(members, width, 2 * config.feed_forward, bias=False)
        self.output = Linear(members, config.feed_forward, width)
        self.feed_forward_norm = Norm(members, width, DNABERT_S_EPS)

    def forward(self, x: Tensor, mask: Tensor, rate: float) -> Tensor:
        context = attend(self.qkv(x), self.heads, mask, None)
        x = self.attention_norm(x + F.dropout(self.attention_output(context), rate, self.training))
        a, b = self.gated(x).chunk(2, -1)
        out: Tensor = self.feed_forward_norm(x + F.dropout(self.output(F.gelu(a) * b), rate, self.training))
        return out


class DnabertSTrainable(nn.Module):
    """DNABERT-S, which predicts masked tokens with its own embedding table.

    `parts` int64 [vocabulary, n]: the parts of each token. Its vector is then the sum of its own vector and
    those of its parts, so that what is learnt about a codon applies to every pair of codons with it.
    """

    parts: Tensor | None

    def __init__(self, members: int, config: DnabertSConfig, parts: Tensor | None) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("parts", parts)
        scale = 0.5 if parts is None else 0.05
        self.embedding = nn.Parameter(torch.randn(members, config.vocabulary, config.width) * scale)
        n_parts = 0 if parts is None else int(parts.max()) + 1
        self.part_embedding = nn.Parameter(torch.randn(members, n_parts, config.width) * 0.35)
        self.embedding_norm = Norm(members, config.width, DNABERT_S_EPS)
        self.layers = nn.ModuleList(DnabertSTrainableLayer(members, config) for _ in range(config.layers))
        self.guess = Linear(members, config.width, config.width)

    def table(self) -> Tensor:
        """The vectors of all tokens [members, vocabulary, width]."""
        if self.parts is None:
            return self.embedding
        return self.embedding + self.part_embedding[:, self.parts].sum(2)

    def forward(self, tokens: Tensor, present: Tensor, rate: float, dtype: torch.dtype) -> Tensor:
        """Map tokens [members, n, length] to the last hidden state."""
        x: Tensor = self.embedding_norm(look_up(self.table().to(dtype), tokens))
        place = torch.arange(tokens.shape[-1], device=x.device)
        slopes = torch.tensor(alibi_slopes(self.config.heads), device=x.device)
        bias = (place[:, None] - place).abs() * slopes.view(1, -1, 1, 1)
        mask = _padding(present, dtype) - bias.to(dtype)
        for layer in self.layers:
            x = layer(x, mask, rate)
        return x

    @staticmethod
    def pool(x: Tensor, present: Tensor) -> Tensor:
        """The mean over all tokens."""
        kept = present.unsqueeze(-1)
        return (x * kept).sum(-2, dtype=torch.float32) / kept.sum(-2)


class HeadTrainable(nn.Module):
    """The classifier; its running statistics follow the batches."""

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, members: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden_layer = Linear(members, inputs, hidden)
        self.weight = nn.Parameter(torch.ones(members, hidden))
        self.bias = nn.Parameter(torch.zeros(members, hidden))
        self.output_layer = Linear(members, hidden, 2)
        self.register_buffer("running_mean", torch.zeros(members, hidden))
        self.register_buffer("running_var", torch.ones(members, hidden))

    def forward(self, x: Tensor, rate: float) -> Tensor:
        """Map embeddings [members, n, inputs] to logits [members, n, 2]."""
        x = self.hidden_layer(F.dropout(x, rate * 0.3, self.training))
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(1), x.var(1)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.02)
                self.running_var.lerp_(var, 0.02)
        x = (x - mean[:, None]) * (var[:, None] + BATCH_NORM_EPS).rsqrt()
        x = torch.relu(x * self.weight[:, None] + self.bias[:, None])
        logits: Tensor = self.output_layer(F.dropout(x, rate, self.training))
        return logits


class Models(nn.Module):
    """`members` complete models. `parts` int64 [vocabulary, n]: the parts of DNABERT-S's tokens."""

    def __init__(
        self, members: int, esm2: Esm2Config, dnabert_s: DnabertSConfig, hidden: int, parts: Tensor | None
    ) -> None:
        super().__init__()
        self.members = members
        self.esm2 = Esm2Trainable(members, esm2)
        self.dnabert_s = DnabertSTrainable(members, dnabert_s, parts)
        self.head = HeadTrainable(members, dnabert_s.width + esm2.width, hidden)
        self.dropout, self.head_dropout = 0.0, 0.0

    def embed(self, proteins: Tensor, dna: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Map tokens [members, n, length], padded with -1, to the joined embeddings FP32 [members, n, width]
        and the last representations of both encoders, which compute in `dtype`."""
        esm2_present, dna_present = proteins >= 0, dna >= 0
        a = self.esm2(proteins.clamp(min=0), esm2_present, self.dropout, dtype)
        b = self.dnabert_s(dna.clamp(min=0), dna_present, self.dropout, dtype)
        joined = torch.cat((self.dnabert_s.pool(b, dna_present), self.esm2.pool(a, esm2_present)), -1)
        return joined.float(), a, b

    def classify(self, joined: Tensor) -> Tensor:
        """Map joined embeddings to logits [members, n, 2]."""
        logits: Tensor = self.head(joined, self.head_dropout)
        return logits
