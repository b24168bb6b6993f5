"""Marks of names agree for mates up to the first difference, however the files are read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_headers import read

from virnucpro_backend.prepare.records.name_marks import MOST_MARKS, NameMarks


def hashes(names: list[str]) -> np.ndarray:
    return read([name.encode() for name in names]).fragment_hashes


@pytest.mark.parametrize(
    ("one", "other", "are_mates"),
    [
        ("read", "read", True),
        ("read/1", "read/2", True),
        ("read/1 a b", "read/2\tc", True),
        ("read 1:N:0:ACGT", "read 2:N:0:ACGT", True),
        ("read/1", "other/2", False),
        ("read/1", "read/3", False),
        ("read.1", "read.2", False),
        ("/1", "/2", False),
    ],
)
def test_mates_have_the_same_hash(one: str, other: str, are_mates: bool) -> None:
    both = hashes([one, other])
    assert (both[0] == both[1]) == are_mates


@given(
    st.integers(1, 5 * MOST_MARKS),
    st.lists(st.integers(0, 5 * MOST_MARKS), max_size=5),
    st.integers(0, 5 * MOST_MARKS - 1),
)
def test_marks_agree_before_the_first_difference_and_not_behind(
    count: int, cuts: list[int], changed: int
) -> None:
    names = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    other = names.copy()
    other[changed % count] ^= np.uint64(1 << 63)
    whole, in_pieces = NameMarks(), NameMarks()
    whole.add(names)
    for piece in np.split(other, sorted(cut for cut in cuts if cut < count)):
        in_pieces.add(piece)
    step = whole.step
    assert in_pieces.step == step
    assert count // step <= MOST_MARKS
    one, two = whole.text(), in_pieces.text()
    assert len(one) == len(two) == 8 * (count // step + 1)
    rows = [*range(step, count + 1, step), count]
    for place, row in enumerate(rows):
        same = one[8 * place : 8 * place + 8] == two[8 * place : 8 * place + 8]
        assert same == (row <= changed % count)
