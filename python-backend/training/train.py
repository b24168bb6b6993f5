"""Trains the teaching model: `npm run python -- training.train DATA OUT`.

DATA holds the labelled fragments `virus.fa.gz` and `host.fa.gz`. Records are split into ten folds by
accession; two of these are never used here. OUT becomes a model folder.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from training.export import write_model_folder
from training.fragments import TEST_FOLDS, Fragment, read_fragments
from training.networks import ESM2_MASK, Model
from training.pools import LENGTHS, Pool, make_pools
from training.tokenizer import MASK, codons_of_hexamers, hexamer_tokenizer
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.encoders.tokens import ESM2_UNK

CUTS = 64
"""The number of random cuts of every fragment in every length."""
MUTATIONS = 0.04
"""The largest share of a cut's bases that are replaced; half of the cuts are not changed."""
STEPS = 1250
WARM_UP = 150
"""The number of steps in which the learning rate rises."""
RATE = 5e-3
DECAY = 0.05
BATCH = 256
AVERAGE = 0.998
"""How much of the averaged weights each step keeps."""
SMOOTHING = 0.05
"""Label smoothing: the target for a viral frame is 0.975."""
TOKEN_DROPOUT = 0.25
"""The share of masked residues and tokens."""
MASKED, CONTRAST = 0.1, 0.2
"""Weights of two further losses, for predicting what is masked, and for finding the other frame of a fragment
among those of others."""


def train(pools: Mapping[int, Pool], fragments: list[Fragment], model: Model) -> Model:
    """Train on the folds that are not held out; return the model of averaged weights."""
    learnt = torch.tensor(
        [number for number, fragment in enumerate(fragments) if fragment.fold not in TEST_FOLDS]
    )
    allowed = {length: pool.frames_of(learnt) for length, pool in pools.items()}
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() == 2], "weight_decay": DECAY},
        {"params": [p for p in parameters if p.dim() != 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1.0, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * step / STEPS)),
    )
    average = AveragedModel(
        model,
        avg_fn=lambda mean, now, step: torch.lerp(
            now, mean, min(AVERAGE, (int(step) + 1) / (int(step) + 10))
        ),
    )
    lengths = np.random.default_rng(5).choice(list(LENGTHS), STEPS, p=list(LENGTHS.values()))
    model.train()
    for step, length in enumerate(lengths.tolist()):
        # Shorter cuts make larger batches of about the same work.
        batch = draw(pools[length], allowed[length], BATCH * 500 // max(length, 250))
        loss = loss_of(model, pools[length], batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
        if step % 100 == 0:
            print(f"step {step}, loss {float(loss.detach()):.3f}", flush=True)
    assert isinstance(average.module, Model)
    settle(average.module, pools, allowed)
    return average.module


def draw(pool: Pool, allowed: Tensor, n: int) -> Tensor:
    """Draw frames [n]: half of them at random, the other half from the same fragments."""
    any_one = allowed[torch.randint(len(allowed), (n // 2,), device=allowed.device)]
    fragment = pool.fragment[any_one]
    place = torch.rand(fragment.shape, device=allowed.device) * pool.count[fragment]
    return torch.cat((any_one, pool.first[fragment] + place.long()))


def loss_of(model: Model, pool: Pool, batch: Tensor) -> Tensor:
    """The loss of the classifier, and those of guessing what is masked and of matching frames."""
    proteins, dna = pool.proteins[batch].long(), pool.dna[batch].long()
    hidden_residue = (torch.rand(proteins.shape, device=batch.device) < TOKEN_DROPOUT) & (proteins > ESM2_UNK)
    hidden_token = (torch.rand(dna.shape, device=batch.device) < TOKEN_DROPOUT) & (dna > MASK)
    joined, a, b = model.embed(
        proteins.masked_fill(hidden_residue, ESM2_MASK), dna.masked_fill(hidden_token, MASK)
    )
    loss = F.cross_entropy(model.head(joined), pool.label[batch], label_smoothing=SMOOTHING)

    some, few = 64, 16
    residues = model.esm2.guess(a[:some])
    tokens = model.dnabert_s.guess(b[:few]) @ model.dnabert_s.table().T
    masked = guessed(residues, proteins[:some], hidden_residue[:some])
    masked = masked + guessed(tokens, dna[:few], hidden_token[:few]) / 3

    one, other = F.normalize(joined, dim=-1).chunk(2)
    contrast = F.cross_entropy(one @ other.T / 0.1, torch.arange(len(one), device=batch.device))
    return loss + MASKED * masked + CONTRAST * contrast


def guessed(guess: Tensor, tokens: Tensor, hidden: Tensor) -> Tensor:
    """The mean cross entropy of the hidden tokens."""
    return F.cross_entropy(guess[hidden], tokens[hidden])


@torch.no_grad()
def settle(model: Model, pools: Mapping[int, Pool], allowed: Mapping[int, Tensor]) -> None:
    """Recompute the classifier's running statistics with the averaged weights."""
    model.eval()
    hidden = []
    for length, n in ((500, 600), (300, 200), (150, 200)):
        for _ in range(4):
            batch = draw(pools[length], allowed[length], n)
            joined, _, _ = model.embed(pools[length].proteins[batch].long(), pools[length].dna[batch].long())
            hidden.append(model.head.hidden_layer(joined))
    x = torch.cat(hidden)
    model.head.bn1.running_mean = x.mean(0)
    model.head.bn1.running_var = x.var(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    fragments = read_fragments(arguments.data)
    tokenizer = hexamer_tokenizer()
    vocabulary, parts = tokenizer.get_vocab_size(), torch.tensor(codons_of_hexamers(tokenizer))
    model = Model(Esm2Config(1, 64, 2, 128), DnabertSConfig(1, 96, 3, 96, vocabulary), 256, parts).to(device)
    pools = make_pools(fragments, tokenizer.to_str(), CUTS, MUTATIONS, device)
    write_model_folder(arguments.out, train(pools, fragments, model).cpu(), tokenizer)


if __name__ == "__main__":
    main()
