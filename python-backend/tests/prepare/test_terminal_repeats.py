"""Repeats at the ends against a definition that tries every length."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from virnucpro_backend.prepare.terminal_repeats import SHORTEST, TerminalRepeat, terminal_repeat

GENOME = Path(__file__).parents[1] / "data" / "crassphage.fa"


def complement(letters: bytes) -> bytes:
    return bytes({65: 84, 67: 71, 71: 67, 84: 65}[base] for base in reversed(letters))


def by_trying(letters: bytes) -> TerminalRepeat | None:
    lengths = range(len(letters) // 2, SHORTEST - 1, -1)
    direct = next((n for n in lengths if letters[:n] == letters[-n:]), 0)
    inverted = next((n for n in lengths if letters[:n] == complement(letters[-n:])), 0)
    if direct:
        return TerminalRepeat("direct", direct)
    return TerminalRepeat("inverted", inverted) if inverted else None


def made(random: np.random.Generator, length: int) -> bytes:
    return bytes(random.choice(list(b"ACGT"), length).tolist())


def test_made_up_ends() -> None:
    random = np.random.default_rng(6)
    found = []
    for _ in range(300):
        end, middle = made(random, int(random.integers(15, 60))), made(random, int(random.integers(0, 200)))
        kind = random.integers(3)
        letters = end + middle + (end, complement(end), b"")[kind]
        assert terminal_repeat(letters.lower()) == by_trying(letters)
        found.append(by_trying(letters))
    assert {repeat and repeat.kind for repeat in found} == {"direct", "inverted", None}


def test_the_genome_of_a_circular_phage_cut_twice_has_a_direct_repeat() -> None:
    genome = b"".join(GENOME.read_bytes().split(b"\n")[1:])
    assert terminal_repeat(genome) is None
    assert terminal_repeat(genome + genome[:55]) == TerminalRepeat("direct", 55)


def test_what_is_no_repeat() -> None:
    middle = made(np.random.default_rng(7), 100)
    tail = b"A" * 30
    assert terminal_repeat(tail + middle + tail) is None
    unknown = b"ACGTN" * 6
    assert terminal_repeat(unknown + middle + unknown) is None
    assert terminal_repeat(b"") is None
    assert terminal_repeat(b"ACGT" * 4) is None
