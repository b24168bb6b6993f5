from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from virnucpro_backend.prepare.records.headers import Headers, RepeatedNames, readable_header

BLANKS = "\t\x0b\x0c\x1c\x1f \x85\xa0\u2003\u2028\u3000"
UNUSUAL = BLANKS + "a1|é\\\x00\x01\x1b\x7f\x9f\u200b\u202e\ufeff\uffff\U0001f9a0"
raw_headers = st.one_of(
    st.binary(max_size=12), st.text(UNUSUAL, max_size=8).map(str.encode), st.just(b"contig_1 length=500")
).map(lambda raw: raw.translate(None, b"\r\n"))


def read(raw: list[bytes], first: int = 0) -> Headers:
    return Headers.read(b"".join(raw), np.array([len(one) for one in raw], np.int64), first)


def lines_of(headers: Headers) -> list[bytes]:
    return [headers.text[begin:end] for begin, end in pairwise(headers.offsets.tolist())]


@settings(max_examples=500)
@given(st.lists(raw_headers, max_size=12), st.integers(0, 99))
@example([], 0)
@example([b"", b"a", b"", b""], 7)
def test_every_header_is_readable_text_that_begins_with_a_name(raw: list[bytes], first: int) -> None:
    headers = read(raw, first)
    lines = lines_of(headers)
    assert lines == [readable_header(one, first + place) for place, one in enumerate(raw)]
    # What was read once can be read again, as from a file that was exported.
    assert lines_of(read(lines, first)) == lines
    for place, line in enumerate(lines):
        text = line.decode("utf-8")
        name = headers.name(place)
        assert name
        assert text.split()[0] == name == text[: len(name)]
        assert not any(unicodedata.category(sign) == "Cc" for sign in text.replace("\t", " "))
        assert "\u202e" not in text


@given(raw_headers)
def test_a_name_is_the_first_word_as_the_original_tool_has_it(raw: bytes) -> None:
    try:
        words = raw.decode("utf-8").split()
    except UnicodeDecodeError:
        return
    if words and words[0].isprintable():
        assert read([raw]).name(0) == words[0]


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)).map(str.encode))
def test_an_ordinary_header_is_kept_byte_for_byte(raw: bytes) -> None:
    if raw.strip() and not raw.startswith(b" "):
        assert read([raw]).text == raw


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("β é".encode(), "β é"),
        (b"caf\xe9 \xff", "café ÿ"),
        (b"\xc3", "Ã"),
        (b"", "unnamed_5"),
        (b" \t \xa0", "unnamed_5"),
        ("\u3000".encode(), "unnamed_5"),
        (b"  indented name", "indented name"),
        (b"tab\tname ", "tab\tname "),
        ("s\u00a01".encode(), "s 1"),
        (b"c\x01d e\x1bf", "c\\u0001d e\\u001bf"),
        ("a\u202eb".encode(), "a\\u202eb"),
    ],
)
def test_unusual_headers_have_one_spelling(raw: bytes, line: str) -> None:
    assert read([raw], 4).text.decode("utf-8") == line


@settings(max_examples=300)
@given(st.lists(st.text(st.sampled_from("ab \tc1|é\u00a0\x01"), max_size=8), max_size=30), st.integers(1, 9))
def test_repeats_are_found_by_the_names_as_written(texts: list[str], batch: int) -> None:
    headers = [text.encode() for text in texts]
    repeats = RepeatedNames()
    names: list[str] = []
    for begin in range(0, len(headers), batch):
        some = read(headers[begin : begin + batch], begin)
        repeats.add(some.name_hashes)
        names += [some.name(place) for place in range(some.counts.size)]
    expected = [row for row, name in enumerate(names) if name in names[:row]]
    assert repeats.rows().tolist() == expected


def test_hashes_are_fixed_and_long_names_differ() -> None:
    # The order of bytes, a byte far from the start and a zero byte all matter.
    names = [b"ab", b"ba", b"x" * 10_000, b"x" * 9_999 + b"y", b"a\x00", b"a"]
    hashes = read(names).name_hashes
    assert len(set(hashes.tolist())) == len(names)
    assert read(names[::-1]).name_hashes[::-1].tolist() == hashes.tolist()


def test_comparing_stops_at_the_limit_and_counts_the_rest() -> None:
    repeats = RepeatedNames(limit=3)
    for name in (b"a", b"b", b"a", b"a", b"b"):
        repeats.add(read([name]).name_hashes)
    assert repeats.rows().tolist() == [2]
    assert repeats.not_compared == 2
