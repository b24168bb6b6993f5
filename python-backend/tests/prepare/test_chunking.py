"""Chunks follow the plain rule, and in the order of a run those computed so far are always an even sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_definition import chunk_bounds

from virnucpro_backend.prepare import chunking
from virnucpro_backend.prepare.chunking import (
    chunk_table,
    chunk_windows,
    priorities,
    round_ends,
    rounds_of,
)
from virnucpro_backend.prepare.records.survey import InMemory


@pytest.mark.parametrize("c", [300, 500])
def test_every_length_up_to_30000_agrees_with_the_plain_walk(c: int) -> None:
    for begin in range(0, 30_001, 1000):
        lengths = np.arange(begin, min(begin + 1000, 30_001))
        table = chunk_table(lengths, c)
        expected = [
            (i, k, *b) for i, n in enumerate(lengths.tolist()) for k, b in enumerate(chunk_bounds(n, c))
        ]
        columns = (table.record, table.chunk, table.start, table.start + table.length)
        np.testing.assert_array_equal(np.stack(columns, axis=1), np.array(expected).reshape(-1, 4))


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.booleans()), min_size=1, max_size=12),
    st.integers(20, 500),
    st.integers(1, 3000),
    st.integers(1, 9),
)
def test_windows_hold_all_chunks_in_order_with_their_letters_and_stay_small(
    records: list[tuple[int, bool]], c: int, most_bases: int, most_chunks: int
) -> None:
    lengths = np.array([length for length, _ in records])
    chunked = np.array([length if is_chunked else 0 for length, is_chunked in records])
    letters = np.random.default_rng(0).integers(0, 256, lengths.sum(), np.uint8)
    origins = np.cumsum(lengths) - lengths
    expected = chunk_table(chunked, c)
    seen = 0
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(chunking, "WINDOW_BASES", most_bases)
        limits.setattr(chunking, "WINDOW_CHUNKS", most_chunks)
        for window in chunk_windows(InMemory(letters), lengths, chunked, c):
            count = window.record.size
            assert 1 <= count <= most_chunks
            assert count == 1 or window.letters.size < most_bases + c
            backwards = window.reordered(np.arange(count)[::-1])
            for place in range(count):
                row = seen + place
                record = int(expected.record[row])
                begin = int(origins[record] + expected.start[row])
                own = letters[begin : begin + int(expected.length[row])]
                for one, at in ((window, place), (backwards, count - 1 - place)):
                    assert (one.record[at], one.chunk[at]) == (record, expected.chunk[row])
                    start = int(one.start[at])
                    assert (one.letters[start : start + int(one.length[at])] == own).all()
                    assert one.length[at] == own.size
            seen += count
    assert seen == expected.record.size


_64_BITS = (1 << 64) - 1

seeds = st.integers(0, (1 << 53) - 1)
rows = st.integers(0, (1 << 32) - 1)


def number(seed: int, place: int) -> int:
    """Compute SplitMix64 as published."""
    z = (seed + (place + 1) * 0x9E3779B97F4A7C15) & _64_BITS
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _64_BITS
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _64_BITS
    return z ^ z >> 31


def plain_priorities(seed: int, row: int, count: int) -> list[float]:
    """Compute the priority of every chunk of one sequence, literally by the rule."""
    bits = (count - 1).bit_length()
    order = [int(f"{place:0{bits}b}"[::-1], 2) if bits else 0 for place in range(1 << bits)]
    places = [place for place in order if place < count]
    uniform = (number(seed, 2 * row) >> 11) / 2**53
    found = [0.0] * count
    for turn, place in enumerate(places):
        found[(place + number(seed, 2 * row + 1)) % count] = (turn + uniform) / count
    return found


def found_priorities(seed: int, row: int, count: int) -> list[float]:
    full = np.full(count, 1, np.int64)
    return priorities(row * full, np.arange(count), count * full, seed).tolist()


def test_the_generator_is_the_published_one() -> None:
    # These are the first numbers from seed 0 in many implementations.
    assert [hex(number(0, place)) for place in range(2)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"]


@given(seeds, rows, st.integers(1, 300))
def test_priorities_follow_the_plain_rule(seed: int, row: int, count: int) -> None:
    assert found_priorities(seed, row, count) == plain_priorities(seed, row, count)


@given(seeds, rows, st.integers(1, 2000), st.floats(0.001, 1))
def test_the_chunks_below_any_priority_are_that_share_and_spread_along_the_sequence(
    seed: int, row: int, count: int, share: float
) -> None:
    chosen = np.flatnonzero(np.array(found_priorities(seed, row, count)) < share)
    assert abs(chosen.size - share * count) < 1
    if chosen.size:
        gaps = np.diff([*chosen, chosen[0] + count])
        assert gaps.max() <= 4 * count / chosen.size


@given(seeds, st.integers(8, 12))
def test_rounds_double(seed: int, halvings: int) -> None:
    reads, first = np.arange(100_000), 0.5**halvings
    rounds = rounds_of(reads, np.zeros_like(reads), np.ones_like(reads), seed, first)
    ends = round_ends(first)
    assert ends[0] == first
    assert (ends[1:] == 2 * ends[:-1]).all()
    assert ends[-1] == 1
    sizes = np.bincount(rounds, minlength=ends.size) / reads.size
    expected = np.diff([0, *ends])
    # Allow six standard deviations.
    assert (abs(sizes - expected) < 6 * np.sqrt(expected / reads.size)).all()
    # Neighbours, such as the two reads of a pair, are independent.
    early, share = rounds < ends.size - 3, ends[-4]
    assert abs((early[:-1] & early[1:]).mean() - share**2) < 6 * share / np.sqrt(reads.size)
