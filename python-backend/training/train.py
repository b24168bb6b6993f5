"""Trains the teaching model: `npm run python -- training.train DATA OUT`.

DATA holds the labelled fragments `virus.fa.gz` and `host.fa.gz`. Records are split into ten folds by
accession; two of these are never used here. OUT becomes a model folder. With `--compare`, nothing is written,
and each variant is trained without two further folds and tested on these.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from training.export import write_model_folder
from training.fragments import Fragment, frame_tokens, read_fragments
from training.pools import make_pools, opened
from training.tokenizer import byte_pair_tokenizer, codons_of_hexamers, hexamer_tokenizer
from training.trainer import LEARNING_FOLDS, Member, Settings, Trainer
from virnucpro_backend.check.scoring import auroc

CUTS = 64
"""The number of random cuts of every fragment in every length."""
MUTATIONS = 0.04
"""The largest share of a cut's bases that are replaced; half of the cuts are not changed."""

VARIANTS = (
    Member(),
    Member(token_dropout=0.1),
    Member(token_dropout=0.02, masked=0),
    Member(contrast=0),
)
HELD_OUT = tuple(zip(LEARNING_FOLDS[::2], LEARNING_FOLDS[1::2], strict=True))


def held_out_scores(
    trainer: Trainer, fragments: list[Fragment], tokenizer: str, length: int
) -> npt.NDArray[np.float64]:
    """Score every fragment's middle piece of this length [members, fragments], NaN without a frame: the mean
    over its chunks of the most decisive frame's score2."""
    begin = (3000 - length) // 2
    frames = frame_tokens([f.letters[begin : begin + length] for f in fragments], opened(tokenizer), 500)
    device = trainer.device
    proteins, dna = torch.from_numpy(frames.proteins).to(device), torch.from_numpy(frames.dna).to(device)
    out = []
    for score2 in trainer.scores(proteins, dna).cpu().double().numpy():
        chunks = np.zeros(len(frames.chunk_sequence)), np.ones(len(frames.chunk_sequence))
        np.maximum.at(chunks[0], frames.chunk, score2)
        np.minimum.at(chunks[1], frames.chunk, score2)
        decided = np.where(chunks[0] >= 1 - chunks[1], chunks[0], chunks[1])
        known = np.bincount(frames.chunk, minlength=len(decided)) > 0
        of, n = frames.chunk_sequence[known], len(fragments)
        count, total = np.bincount(of, minlength=n), np.bincount(of, decided[known], minlength=n)
        out.append(np.divide(total, count, out=np.full(n, np.nan), where=count > 0))
    return np.stack(out)


def compare(trainer: Trainer, fragments: list[Fragment], tokenizer: str) -> None:
    """Print the AUROC of every variant on the folds that its members were trained without."""
    members = trainer.settings.members
    fold, virus = np.array([f.fold for f in fragments]), np.array([f.virus for f in fragments])
    for length in (150, 500, 3000):
        scores = held_out_scores(trainer, fragments, tokenizer, length)
        for variant in dict.fromkeys(replace(member, without=()) for member in members):
            pooled = np.full(len(fragments), np.nan)
            for number, member in enumerate(members):
                if replace(member, without=()) == variant:
                    held_out = np.isin(fold, member.without)
                    pooled[held_out] = scores[number, held_out]
            known = np.isfinite(pooled)
            print(f"{length} bp, {variant}: AUROC {auroc(virus[known], pooled[known]):.4f} of {known.sum()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=Settings().steps)
    parser.add_argument("--workers", type=int, default=2, help="processes that make the cuts")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compare", action="store_true", help="try variants instead of writing a model")
    parser.add_argument("--byte-pairs", type=int, help="try a vocabulary of this size instead of hexamers")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    fragments = read_fragments(arguments.data)
    settings = replace(Settings(), steps=arguments.steps)
    if arguments.compare:
        members = tuple(replace(member, without=folds) for member in VARIANTS for folds in HELD_OUT)
        settings = replace(settings, members=members)
    tokenizer, parts = hexamer_tokenizer(), None
    if arguments.byte_pairs:
        learning = [f.letters for f in fragments if f.fold in LEARNING_FOLDS]
        corpus = [letters[begin : begin + 300] for letters in learning for begin in range(0, 3000, 300)]
        tokenizer = byte_pair_tokenizer(corpus, arguments.byte_pairs)
    else:
        parts = codons_of_hexamers(tokenizer)
    text = tokenizer.to_str()
    pools = make_pools(fragments, text, CUTS, MUTATIONS, device, arguments.workers)
    trainer = Trainer(settings, tokenizer.get_vocab_size(), parts, device, arguments.seed)
    trainer.train(pools, fragments)
    if arguments.compare:
        compare(trainer, fragments, text)
        return
    models = trainer.models
    state = {name: tensor.cpu() for name, tensor in models.state_dict().items()}
    write_model_folder(arguments.out, state, 0, models.esm2.config, models.dnabert_s.config, tokenizer)


if __name__ == "__main__":
    main()
