"""Terminal repeats agree with a definition that tries every length, and leave out what CheckV flags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from virnucpro_backend.prepare.records import survey
from virnucpro_backend.prepare.records.composition import Composition
from virnucpro_backend.prepare.records.survey import RecordAssembler
from virnucpro_backend.prepare.scanning.batch import ScanBatch
from virnucpro_backend.prepare.terminal_repeats import DIRECT, INVERTED, NONE, terminal_repeats

GENOME = Path(__file__).parents[1] / "data" / "crassphage.fa"


def complement(letters: bytes) -> bytes:
    return bytes({65: 84, 67: 71, 71: 67, 84: 65}[base] for base in reversed(letters))


def by_trying(letters: bytes) -> tuple[int, int]:
    opposite = complement(letters)
    direct = next((n for n in range(len(letters) // 2, 20, -1) if letters[:n] == letters[-n:]), 0)
    inverted = next((n for n in range(1000, 20, -1) if letters[:n] == opposite[:n]), 0)
    if not direct and not inverted:
        return NONE, 0
    return (DIRECT, direct) if direct >= inverted else (INVERTED, inverted)


def made(random: np.random.Generator, length: int) -> bytes:
    return bytes(random.choice(list(b"ACGT"), length).tolist())


def found(sequences: list[bytes], spool: Path) -> list[tuple[int, int]]:
    """Find repeats as preparation does, with the last sequence read from the spool of long ones."""
    letters = np.frombuffer(b"".join(sequences), np.uint8)
    lengths = np.array([len(sequence) for sequence in sequences])
    begins = np.cumsum(lengths) - lengths
    none = np.zeros(lengths.size, np.int64)
    assembler = RecordAssembler(Composition(), spool)
    batch = ScanBatch(letters, begins, none, b"", none)
    groups = [*assembler.add(batch), *assembler.finish()]
    repeats: list[tuple[int, int]] = []
    for group in groups:
        every = np.ones(group.lengths.size, np.bool_)
        kinds, sizes = terminal_repeats(group.letters, group.lengths, every)
        repeats += zip(kinds.tolist(), sizes.tolist(), strict=True)
    return repeats


def test_made_up_ends_match_the_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "SPOOL_BYTES", 500)
    random = np.random.default_rng(6)
    sequences = []
    for _ in range(300):
        end, middle = (made(random, int(random.integers(*sizes))) for sizes in ((15, 60), (980, 1400)))
        sequences.append(end + middle + (end, complement(end), b"")[random.integers(3)])
    expected = [by_trying(letters) for letters in sequences]
    assert {kind for kind, _ in expected} == {NONE, DIRECT, INVERTED}
    assert found([letters.lower() for letters in sequences], tmp_path) == expected


def test_the_genome_of_a_circular_phage_cut_twice_has_a_direct_repeat(tmp_path: Path) -> None:
    genome = b"".join(GENOME.read_bytes().split(b"\n")[1:])
    pieces = [genome, genome + genome[:55], genome[:5000] + complement(genome[:1500])]
    expected = [(NONE, 0), (DIRECT, 55), (INVERTED, 1000)]
    assert found(pieces, tmp_path) == expected
    assert [by_trying(letters) for letters in pieces] == expected


def test_ends_that_say_little_are_not_reported(tmp_path: Path) -> None:
    """Runs of a letter, unknown letters, repeats in many places, and a genome that is there twice."""
    random = np.random.default_rng(7)
    middle, end = made(random, 1000), made(random, 30)
    tail, unknown = b"A" * 30, b"ACGN" * 8
    many = b"".join(end + made(random, 40) for _ in range(9))
    sequences = [
        *(tail + middle + tail, unknown + middle + unknown, many + middle + end, middle * 2),
        *(b"", end + middle[:900] + end),
    ]
    assert found(sequences, tmp_path) == [(NONE, 0)] * 6
    few = many[: 7 * 70] + middle + end
    assert found([few, b"ACGTN" * 5 + middle + b"ACGTN" * 5], tmp_path) == [(DIRECT, 30), (DIRECT, 25)]
