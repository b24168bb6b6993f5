from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from virnucpro_backend.prepare.arrays import ByteArray, offsets_of
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import open_frames
from virnucpro_backend.prepare.genetic_code import genetic_code_hints
from virnucpro_backend.prepare.records.survey import InMemory

DATA = Path(__file__).parents[1] / "data"
CODES = {"TAG": 15, "TGA": 4}
BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
STOPS = ("TAA", "TAG", "TGA")


def hints(sequences: list[ByteArray], chunk_length: int) -> ByteArray:
    """Return the hint of each sequence, uint8 [k]: 0, 4 or 15."""
    lengths = np.array([sequence.size for sequence in sequences], np.int64)
    letters = np.concatenate(sequences)
    table = chunk_table(lengths, chunk_length)
    frames = open_frames(letters, offsets_of(lengths)[table.record] + table.start, table.length)
    is_lost = np.ones(table.record.size, np.bool_)
    is_lost[frames.chunk] = False
    chunks, *lost = (
        np.bincount(table.record[chosen], minlength=lengths.size)
        for chosen in (slice(None), is_lost, frames.lost_to_tag, frames.lost_to_tga)
    )
    return genetic_code_hints(InMemory(letters), lengths, chunks, np.stack(lost), chunk_length)


def random_letters(random: np.random.Generator, length: int, gc: float) -> ByteArray:
    """Independent letters, uint8 [length]."""
    return BASES[random.choice(4, length, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2])]


def genes(random: np.random.Generator, length: int, gc: float, codon: str, share: float) -> ByteArray:
    """Genes in which `share` of the codons is `codon`, uint8 [length]."""
    codons = np.array([a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in STOPS])
    weights = np.array([np.prod([gc if base in "GC" else 1 - gc for base in one]) for one in codons])
    ends = [stop for stop in STOPS if stop != codon]
    made: list[ByteArray] = []
    while sum(part.size for part in made) < length:
        body = random.choice(codons, random.integers(150, 500), p=weights / weights.sum())
        body = np.where(random.random(body.size) < share, codon, body)
        gene = ("ATG" + "".join(body) + ends[random.integers(2)]).encode()
        if random.random() < 0.3:
            gene = gene.translate(COMPLEMENT)[::-1]
        made += [np.frombuffer(gene, np.uint8), random_letters(random, int(random.integers(20, 100)), gc)]
    return np.concatenate(made)[:length]


@pytest.mark.parametrize("chunk_length", [300, 500])
def test_random_letters_get_no_hint_whatever_their_composition(chunk_length: int) -> None:
    random = np.random.default_rng(3)
    made = [random_letters(random, 8_000, gc) for gc in np.arange(0.3, 0.76, 0.05) for _ in range(40)]
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
    made = [BASES[random.choice(4, 8_000, p=[0.1, 0.2, 0.4, 0.3])] for _ in range(100)]
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
