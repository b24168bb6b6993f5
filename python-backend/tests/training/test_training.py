"""Tests the teaching model's training: what is held out, what is shuffled, and that the backend computes the
trained model."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from training.export import write_model_folder
from training.fragments import TEST_FOLDS, Fragment, frame_tokens, read_fragments
from training.make_controls import shuffled
from training.pools import make_pools, opened
from training.tokenizer import codons_of_hexamers, hexamer_tokenizer
from training.trainer import Member, Settings, Trainer
from virnucpro_backend.check.scoring import score_sequences

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data" / "teaching"


def made_up_fragments() -> list[Fragment]:
    """Make fragments without T, so that no forward frame has a stop."""
    random = np.random.default_rng(3)
    return [
        Fragment(f"R{n}", 1, 3000, n % 2 == 0, "".join(random.choice(list("ACG"), 3000))) for n in range(24)
    ]


def test_the_panel_only_has_held_out_records() -> None:
    if not DATA.is_dir():
        pytest.skip(f"the labelled fragments are not at {DATA}")
    fragments: dict[tuple[str, bool], list[Fragment]] = {}
    for fragment in read_fragments(DATA):
        fragments.setdefault((fragment.record, fragment.virus), []).append(fragment)
    entries = (ROOT / "resources" / "controls" / "500.fa").read_text().split(">")[1:]
    labelled = [e.split("\n")[:2] for e in entries if e.startswith(("viral", "host"))]
    assert len(labelled) == 200
    for header, letters in labelled:
        name, source = header.split()
        record, _, place = source.partition(":")
        begin, end = map(int, place.split("-"))
        (fragment,) = [
            f for f in fragments[record, name.startswith("viral")] if f.begin <= begin and end <= f.end
        ]
        assert fragment.fold in TEST_FOLDS
        assert fragment.letters[begin - fragment.begin :].startswith(letters)


def test_both_sizes_of_the_panel_have_the_same_pieces() -> None:
    folder = ROOT / "resources" / "controls"
    longer, shorter = ((folder / f"{length}.fa").read_text().split(">")[1:] for length in (500, 300))
    assert len(longer) == len(shorter) == 260
    for a, b in zip(longer, shorter, strict=True):
        (header, letters), (header_too, beginning) = a.split("\n")[:2], b.split("\n")[:2]
        assert header == header_too
        assert len(letters) == 500
        assert letters[:300] == beginning


def test_shuffling_keeps_all_pairs_of_neighbours() -> None:
    random = np.random.default_rng(5)
    letters = "".join(random.choice(list("ACGT"), 400, p=(0.5, 0.1, 0.1, 0.3)))
    other = shuffled(letters, random)
    assert other != letters
    assert Counter(itertools.pairwise(other)) == Counter(itertools.pairwise(letters))


def test_the_backend_computes_the_model_that_was_trained(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    fragments, tokenizer = made_up_fragments(), hexamer_tokenizer()
    text, cpu = tokenizer.to_str(), torch.device("cpu")
    settings = Settings(
        members=(Member(without=(2, 3)), Member()),
        esm2=(2, 16, 2, 24),
        dnabert_s=(2, 16, 1, 24),
        hidden=8,
        steps=4,
        batch=4,
    )
    pools = make_pools(fragments, text, 4, 0.04, cpu, workers=1)
    trainer = Trainer(settings, tokenizer.get_vocab_size(), codons_of_hexamers(tokenizer), cpu, seed=1)
    trainer.train(pools, fragments)

    state, models = trainer.models.state_dict(), trainer.models
    write_model_folder(tmp_path / "model", state, 1, models.esm2.config, models.dnabert_s.config, tokenizer)
    sequences = [f.letters[:200] for f in fragments]
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in enumerate(sequences)))
    scored = score_sequences([tmp_path / "in.fa"], tmp_path / "model", "cpu", "fp32")

    frames = frame_tokens(sequences, opened(text), 500)
    score2 = trainer.scores(torch.from_numpy(frames.proteins), torch.from_numpy(frames.dna))[1].numpy()
    assert score2.size > 3
    np.testing.assert_array_equal(scored.chunk_of, frames.chunk)
    np.testing.assert_allclose(scored.scores[:, 1], score2, atol=0.005)  # FP16 weights
