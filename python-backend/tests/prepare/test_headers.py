from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virnucpro_backend.prepare.records.headers import (
    RepeatedIdentifiers,
    as_utf8,
    hash_identifiers,
    identifier,
)

header_lists = st.lists(st.text(st.sampled_from("ab \tc1|é"), max_size=8), max_size=30)


def joined(headers: list[str]) -> tuple[bytes, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    pieces = [header.encode() for header in headers]
    return b"".join(pieces), np.array([len(piece) for piece in pieces], np.int64)


@settings(max_examples=300)
@given(header_lists, st.integers(1, 9))
def test_repeats_are_found_by_the_first_word(headers: list[str], batch: int) -> None:
    repeats = RepeatedIdentifiers()
    for begin in range(0, len(headers), batch):
        repeats.add(hash_identifiers(*joined(headers[begin : begin + batch])))
    words = [identifier(header) for header in headers]
    expected = [row for row, word in enumerate(words) if word in words[:row]]
    assert repeats.rows().tolist() == expected


def test_hashes_are_fixed_and_long_words_differ() -> None:
    # The order of bytes, a byte far from the start and a zero byte all matter.
    headers = ["ab", "ba", "x" * 10_000, "x" * 9_999 + "y", "a\x00", "a"]
    hashes = hash_identifiers(*joined(headers))
    assert len(set(hashes.tolist())) == len(headers)
    again = hash_identifiers(*joined(headers[::-1]))
    assert again[::-1].tolist() == hashes.tolist()


def test_comparing_stops_at_the_limit_and_counts_the_rest() -> None:
    repeats = RepeatedIdentifiers(limit=3)
    for word in ("a", "b", "a", "a", "b"):
        repeats.add(hash_identifiers(*joined([word])))
    assert repeats.rows().tolist() == [2]
    assert repeats.not_compared == 2


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"plain", "plain"), ("β é".encode(), "β é"), (b"caf\xe9 \xff", "café ÿ"), (b"\xc3", "Ã"), (b"", "")],
)
def test_headers_that_are_not_utf8_are_read_as_latin1(raw: bytes, text: str) -> None:
    headers, counts = as_utf8(b"x\xe9" + raw, np.array([2, len(raw)]))
    assert headers[: counts[0]].decode() == "xé"
    assert headers[counts[0] :].decode() == text
