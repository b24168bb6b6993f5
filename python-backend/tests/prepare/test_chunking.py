from __future__ import annotations

import numpy as np
import pytest
from plain_definition import chunk_bounds

from virnucpro_backend.prepare.chunking import chunk_counts, chunk_range, chunk_table


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


def test_a_range_of_a_huge_sequence_agrees_with_the_full_table() -> None:
    length = 1_234_567
    whole = chunk_table(np.array([length]), 500)
    assert int(chunk_counts(np.array([length]), 500)[0]) == whole.start.size
    part = chunk_range(length, 1000, 1500, 500)
    np.testing.assert_array_equal(part.start, whole.start[1000:1500])
    np.testing.assert_array_equal(part.length, whole.length[1000:1500])
    np.testing.assert_array_equal(part.chunk, np.arange(1000, 1500))
    np.testing.assert_array_equal(part.record, np.zeros(500))
