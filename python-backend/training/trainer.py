"""Trains several models at once, each on its own folds and with its own regularisation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.fragments import FOLDS, TEST_FOLDS, Fragment
from training.networks import ESM2_MASK, Models
from training.pools import LENGTHS, Pool
from training.tokenizer import MASK
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.encoders.tokens import ESM2_UNK

LEARNING_FOLDS = tuple(fold for fold in range(FOLDS) if fold not in TEST_FOLDS)
WARM_UP = 150
"""The number of steps in which the learning rate rises."""
SMOOTHING = 0.05
"""Label smoothing: the target for a viral frame is 0.975."""


@dataclass(frozen=True)
class Member:
    """The settings of one member. `without`: folds held out in addition to the test folds. `token_dropout`:
    share of masked residues and tokens. `masked`, `contrast`: weights of two further losses, for predicting
    what is masked, and for finding the other frame of a fragment among those of others."""

    without: tuple[int, ...] = ()
    token_dropout: float = 0.25
    masked: float = 0.1
    contrast: float = 0.2


@dataclass(frozen=True)
class Settings:
    """The settings that all members share. `esm2`, `dnabert_s`: layers, width, heads and inner width of the
    encoders. `average`: how much of the averaged weights each step keeps."""

    members: tuple[Member, ...] = (Member(),)
    esm2: tuple[int, int, int, int] = (1, 64, 2, 128)
    dnabert_s: tuple[int, int, int, int] = (1, 96, 3, 96)
    hidden: int = 256
    rate: float = 5e-3
    decay: float = 0.05
    dropout: float = 0.1
    head_dropout: float = 0.3
    steps: int = 1250
    batch: int = 256
    average: float = 0.998


class Trainer:
    """Trains all members at once."""

    def __init__(
        self,
        settings: Settings,
        vocabulary: int,
        parts: list[list[int]] | None,
        device: torch.device,
        seed: int,
    ) -> None:
        self.settings, self.device = settings, device
        torch.manual_seed(seed)
        self.models = Models(
            len(settings.members),
            Esm2Config(*settings.esm2),
            DnabertSConfig(*settings.dnabert_s, vocabulary),
            settings.hidden,
            None if parts is None else torch.tensor(parts),
        ).to(device)
        self.models.dropout, self.models.head_dropout = settings.dropout, settings.head_dropout
        self.dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self._token_dropout = self._each("token_dropout").view(-1, 1, 1)
        self._masked, self._contrast = self._each("masked"), self._each("contrast")

    def _each(self, name: str) -> Tensor:
        """Return a setting of every member [members]."""
        return torch.tensor([float(getattr(m, name)) for m in self.settings.members], device=self.device)

    def train(self, pools: Mapping[int, Pool], fragments: list[Fragment]) -> None:
        """Train on the folds that are not held out. The weights are averaged over the last steps."""
        models, settings = self.models, self.settings
        learnt = [
            [i for i, f in enumerate(fragments) if f.fold in LEARNING_FOLDS and f.fold not in member.without]
            for member in settings.members
        ]
        allowed = {length: pool.allowed(learnt) for length, pool in pools.items()}
        parameters = list(models.parameters())
        groups = [
            {"params": [p for p in parameters if p.dim() == 3], "weight_decay": settings.decay},
            {"params": [p for p in parameters if p.dim() != 3], "weight_decay": 0.0},
        ]
        fused = self.device.type == "cuda"
        optimizer = torch.optim.AdamW(groups, lr=settings.rate, betas=(0.9, 0.98), fused=fused)
        average = [p.detach().clone() for p in parameters]
        lengths = np.random.default_rng(5).choice(list(LENGTHS), settings.steps, p=list(LENGTHS.values()))
        models.train()
        for step, length in enumerate(lengths.tolist()):
            factor = min(1.0, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * step / settings.steps))
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * factor
            # Shorter cuts make larger batches of about the same work.
            loss = self._loss(pools[length], allowed[length], settings.batch * 500 // max(length, 250))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            with torch.no_grad():
                keep = min(settings.average, (step + 1) / (step + 10))
                torch._foreach_lerp_(average, [p.detach() for p in parameters], 1 - keep)
            if step % 100 == 0:
                print(f"step {step}, loss {float(loss.detach()) / models.members:.3f}", flush=True)
        with torch.no_grad():
            for parameter, mean in zip(parameters, average, strict=True):
                parameter.copy_(mean)
        self._settle(pools, allowed)

    def _batch(self, pool: Pool, allowed: tuple[Tensor, Tensor], n: int) -> Tensor:
        """Draw frames [members, n]: half of them at random, the other half from the same fragments."""
        rows, counts = allowed
        half = n // 2
        place = torch.rand(len(counts), half, device=self.device) * counts[:, None]
        any_one = rows.gather(1, place.long())
        fragment = pool.fragment[any_one]
        place = torch.rand(fragment.shape, device=self.device) * pool.count[fragment]
        other = pool.first[fragment] + place.long()
        return torch.cat((any_one, other), 1)

    def _loss(self, pool: Pool, allowed: tuple[Tensor, Tensor], n: int) -> Tensor:
        models = self.models
        batch = self._batch(pool, allowed, n)
        proteins, dna = pool.proteins[batch].long(), pool.dna[batch].long()
        hidden_residue = torch.rand(proteins.shape, device=self.device) < self._token_dropout
        hidden_residue &= proteins > ESM2_UNK
        hidden_token = torch.rand(dna.shape, device=self.device) < self._token_dropout
        hidden_token &= dna > MASK
        joined, a, b = models.embed(
            proteins.masked_fill(hidden_residue, ESM2_MASK), dna.masked_fill(hidden_token, MASK), self.dtype
        )
        logits = models.classify(joined)
        target = pool.label[batch] * (1 - SMOOTHING) + SMOOTHING / 2
        logs = logits.log_softmax(-1)
        loss = -(logs[..., 1] * target + logs[..., 0] * (1 - target)).mean(1).sum()
        masked = self._masked_losses(a, proteins, hidden_residue, b, dna, hidden_token)
        loss = loss + (self._masked * masked).sum() + (self._contrast * self._contrasts(joined)).sum()
        return loss

    def _masked_losses(
        self,
        a: Tensor,
        proteins: Tensor,
        hidden_residue: Tensor,
        b: Tensor,
        dna: Tensor,
        hidden_token: Tensor,
    ) -> Tensor:
        """The loss of predicting masked residues and tokens of some frames, per member."""
        some, few = 64, 16
        esm2, dnabert_s = self.models.esm2, self.models.dnabert_s
        residues = _guessed(esm2.guess(a[:, :some]), proteins[:, :some], hidden_residue[:, :some])
        inner = dnabert_s.guess(b[:, :few]).flatten(1, 2)
        guess = torch.bmm(inner, dnabert_s.table().to(inner.dtype).transpose(1, 2))
        return residues + _guessed(guess, dna[:, :few], hidden_token[:, :few]) / 3

    def _contrasts(self, joined: Tensor) -> Tensor:
        """The loss of matching two frames of a fragment among all frames, per member."""
        half = joined.shape[1] // 2
        unit = F.normalize(joined, dim=-1)
        alike = torch.bmm(unit[:, :half], unit[:, half:].transpose(1, 2)) / 0.1
        goal = torch.arange(half, device=self.device).expand(len(joined), -1)
        return F.cross_entropy(alike.transpose(1, 2), goal, reduction="none").mean(1)

    @torch.no_grad()
    def _settle(self, pools: Mapping[int, Pool], allowed: Mapping[int, tuple[Tensor, Tensor]]) -> None:
        """Recompute the classifier's running statistics with the averaged weights."""
        self.models.eval()
        hidden = []
        for length, n in ((500, 600), (300, 200), (150, 200)):
            for _ in range(4):
                batch = self._batch(pools[length], allowed[length], n)
                joined, _, _ = self.models.embed(
                    pools[length].proteins[batch].long(), pools[length].dna[batch].long(), self.dtype
                )
                hidden.append(self.models.head.hidden_layer(joined))
        x = torch.cat(hidden, 1)
        self.models.head.running_mean.copy_(x.mean(1))
        self.models.head.running_var.copy_(x.var(1))

    @torch.no_grad()
    def scores(self, proteins: Tensor, dna: Tensor, at_once: int = 512) -> Tensor:
        """Compute score2 [members, frames] of the same frames with every member."""
        self.models.eval()
        out = []
        for begin in range(0, len(proteins), at_once):
            p = proteins[begin : begin + at_once].long().expand(self.models.members, -1, -1)
            d = dna[begin : begin + at_once].long().expand(self.models.members, -1, -1)
            joined, _, _ = self.models.embed(p, d, torch.float32)
            out.append(self.models.classify(joined).softmax(-1)[..., 1])
        return torch.cat(out, 1)


def _guessed(guess: Tensor, tokens: Tensor, hidden: Tensor) -> Tensor:
    """The mean cross entropy [members] of the hidden tokens."""
    members = len(tokens)
    goal = tokens.masked_fill(~hidden, -100).view(members, -1)
    losses = F.cross_entropy(guess.float().view(goal.numel(), -1), goal.view(-1), reduction="none")
    return losses.view(members, -1).sum(1) / hidden.view(members, -1).sum(1).clamp(min=1)
