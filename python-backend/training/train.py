"""Trains the teaching model: `npm run python -- training.train DATA OUT`.

DATA holds the labelled fragments `virus.fa.gz` and `host.fa.gz`. Records are split into ten folds by
accession; two of these are never used here. OUT becomes a model folder.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from training.export import write_model_folder
from training.fragments import read_fragments
from training.pools import make_pools
from training.tokenizer import codons_of_hexamers, hexamer_tokenizer
from training.trainer import Settings, Trainer

CUTS = 64
"""The number of random cuts of every fragment in every length."""
MUTATIONS = 0.04
"""The largest share of a cut's bases that are replaced; half of the cuts are not changed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=Settings().steps)
    parser.add_argument("--workers", type=int, default=2, help="processes that make the cuts")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    fragments = read_fragments(arguments.data)
    settings = replace(Settings(), steps=arguments.steps)
    tokenizer = hexamer_tokenizer()
    text = tokenizer.to_str()
    pools = make_pools(fragments, text, CUTS, MUTATIONS, device, arguments.workers)
    codons = codons_of_hexamers(tokenizer)
    trainer = Trainer(settings, tokenizer.get_vocab_size(), codons, device, arguments.seed)
    trainer.train(pools, fragments)
    models = trainer.models
    state = {name: tensor.cpu() for name, tensor in models.state_dict().items()}
    write_model_folder(arguments.out, state, 0, models.esm2.config, models.dnabert_s.config, tokenizer)


if __name__ == "__main__":
    main()
