from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.genetic_code import CODES, RANDOM_GC, genes, hints, random_letters
from virnucpro_backend.prepare.genetic_code import genetic_code_hints
from virnucpro_backend.prepare.records.survey import InMemory

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("chunk_length", [300, 500])
def test_random_letters_get_no_hint_whatever_their_composition(chunk_length: int) -> None:
    random = np.random.default_rng(3)
    made = [random_letters(random, 8_000, gc) for gc in RANDOM_GC for _ in range(40)]
    # One in a hundred at most; the rule aims at one in 200.
    assert np.count_nonzero(hints(made, chunk_length)) <= len(made) // 100


@pytest.mark.parametrize("codon", CODES)
@pytest.mark.parametrize("chunk_length", [300, 500])
def test_genes_that_read_a_stop_codon_get_its_code(codon: str, chunk_length: int) -> None:
    random = np.random.default_rng(4)
    made = [genes(random, 10_000, gc, codon, 0.02) for gc in (0.3, 0.4, 0.5) for _ in range(20)]
    right = hints(made, chunk_length) == CODES[codon]
    assert np.mean(right) >= 0.8


def test_skew_between_the_strands_is_no_hint() -> None:
    random = np.random.default_rng(5)
    letters = np.frombuffer(b"ACGT", np.uint8)
    made = [letters[random.choice(4, 8_000, p=[0.1, 0.2, 0.4, 0.3])] for _ in range(100)]
    assert np.count_nonzero(hints(made, 500)) <= 1


@pytest.mark.parametrize(
    ("chunks", "lost", "to_tag", "to_tga", "code"),
    [
        (8, 8, 6, 0, 15),
        (195, 84, 6, 0, 0),
        (12, 10, 1, 5, 4),
        (12, 12, 6, 6, 0),
        # Just enough chunks, lost chunks, and chunks lost to one codon; then one too few.
        (6, 4, 4, 1, 15),
        (15, 10, 0, 5, 4),
        (5, 5, 5, 0, 0),
        (6, 3, 3, 0, 0),
        (15, 10, 3, 2, 0),
        (0, 0, 0, 0, 0),
    ],
)
def test_few_or_divided_chunks_are_no_hint(
    chunks: int, lost: int, to_tag: int, to_tga: int, code: int
) -> None:
    letters = np.frombuffer(b"AAACGTTT" * 50, np.uint8)
    counts = np.array([[lost], [to_tag], [to_tga]])
    found = genetic_code_hints(InMemory(letters), np.array([letters.size]), np.array([chunks]), counts, 500)
    assert found.tolist() == [code]


def test_crassphage_gets_no_hint_at_the_usual_chunk_length() -> None:
    text = (DATA / "crassphage.fa").read_bytes().split(b"\n", 1)[1].replace(b"\n", b"")
    assert hints([np.frombuffer(text, np.uint8)], 500).tolist() == [0]
