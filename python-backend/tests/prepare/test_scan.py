"""Both scanners agree with plain readers, wherever the stream is cut."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_conservation import Read, fastq_lines

from virnucpro_backend.prepare.scanning import fastq
from virnucpro_backend.prepare.scanning.scanner import new_scanner, scan
from virnucpro_backend.prepare.scanning.sniff import SequenceFormat


class Record(NamedTuple):
    header: str
    letters: str
    offset: int
    problem: str | None = None


def scanned(stream: bytes, sequence_format: SequenceFormat, cuts: list[int] | None = None) -> list[Record]:
    bounds = [0, *sorted(cuts or []), len(stream)]
    blocks = [stream[a:b] for a, b in pairwise(bounds) if b > a]
    records: list[tuple[str, int]] = []
    letters: list[bytes] = []
    problems: dict[int, str] = {}
    for batch in scan(blocks, new_scanner(sequence_format)):
        data = batch.letters.tobytes()
        edges = [*batch.begins.tolist(), len(data)]
        if letters:
            letters[-1] += data[: edges[0]]
        else:
            assert edges[0] == 0
        place = 0
        for i, size in enumerate(batch.header_counts.tolist()):
            header = batch.headers[place : place + size].decode("latin-1")
            records.append((header, int(batch.byte_offsets[i])))
            letters.append(data[edges[i] : edges[i + 1]])
            place += size
        assert place == len(batch.headers)
        problems.update(batch.malformed)
        assert all(number < len(records) for number in problems)
    return [
        Record(header, text.decode("latin-1"), offset, problems.get(i))
        for i, ((header, offset), text) in enumerate(zip(records, letters, strict=True))
    ]


def plain_fasta(stream: bytes) -> list[Record]:
    records: list[Record] = []
    place = 0
    for line in stream.replace(b"\r\n", b"\n\n").replace(b"\r", b"\n").split(b"\n"):
        text = line.decode("latin-1").strip("\x00")
        if text.startswith(">"):
            records.append(Record(text[1:], "", place))
        elif text and text[0] not in ";#":
            visible = text.replace(" ", "").replace("\t", "")
            if records:
                records[-1] = records[-1]._replace(letters=records[-1].letters + visible)
        place += len(line) + 1
    return records


FASTA_PIECES = [
    ">",
    ">id",
    ">a b c",
    "ACGT",
    "acgtn",
    " ",
    "\t",
    "A C",
    ";note",
    "#note",
    "",
    "é",
    "x>y",
    "\x00",
]
LINE_ENDS = ["\n", "\r\n", "\r"]


@settings(max_examples=500)
@given(st.data())
def test_fasta_cut_anywhere_gives_the_records_of_a_plain_reader(data: st.DataObject) -> None:
    ends = data.draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], LINE_ENDS]))
    line = st.tuples(st.sampled_from(FASTA_PIECES), st.sampled_from(ends))
    lines = data.draw(st.lists(line, max_size=14))
    stream = "".join(piece + end for piece, end in lines).encode("latin-1")
    if data.draw(st.booleans()):
        stream = stream.rstrip(b"\r\n")
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    assert scanned(stream, "fasta", cuts) == plain_fasta(stream)


def test_a_byte_order_mark_is_ignored() -> None:
    assert scanned(b"\xef\xbb\xbf>a\nAC", "fasta") == [Record("a", "AC", 3)]
    assert scanned(b"\xef\xbb\xbf@a\nAC\n+\nII", "fastq") == [Record("a", "AC", 3)]


def test_an_endless_header_is_reported_and_cut() -> None:
    stream = b">" + b"x" * (3 << 20) + b"\nAC\n>b\nGT\n"
    huge, after = scanned(stream, "fasta", list(range(0, 3 << 20, 99_991)))
    assert (len(huge.header), huge.letters) == (1 << 20, "AC")
    assert huge.problem is not None
    assert after == Record("b", "GT", (3 << 20) + 5)


@settings(max_examples=300)
@given(st.data())
def test_fastq_cut_anywhere_gives_every_record(data: st.DataObject) -> None:
    random_ = random.Random(data.draw(st.integers(0, 10**9)))
    end = data.draw(st.sampled_from(LINE_ENDS))
    stream, expected = b"", []
    for i in range(data.draw(st.integers(0, 8))):
        if random_.random() < 0.2:
            stream += random_.choice([end, end * 3]).encode()
        is_wrapped = random_.random() < 0.3
        size = random_.choice([1, 2, 5, 30, 151] if is_wrapped else [0, 1, 2, 5, 30, 151])
        read = Read(f"read{i} é", "".join(random_.choices("ACGTN", k=size)))
        widths = [random_.choice([1, 7, 60]) if is_wrapped else 10**9]
        lines = fastq_lines(random_, read, widths)
        expected.append(Record(read.name.encode().decode("latin-1"), read.letters, len(stream)))
        stream += "".join(line + end for line in lines).encode()
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    if expected and expected[-1].letters and data.draw(st.booleans()):
        stream = stream[: -len(end)]
    assert scanned(stream, "fastq", [min(cut, len(stream)) for cut in cuts]) == expected


@pytest.mark.parametrize("width", [60, 10**9])
def test_a_read_longer_than_the_limit_is_reported(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(fastq, "MAX_WAITING_BYTES", 5000)
    lines = [text[i : i + width] for text in ("A" * 40_000, "I" * 40_000) for i in range(0, 40_000, width)]
    lines.insert(len(lines) // 2, "+")
    huge = "".join(f"{line}\n" for line in ["@huge", *lines]).encode()
    stream = b"@a\nAC\n+\nII\n" + huge + b"@b\nGT\n+\nII\n"
    for step in (700, 1999, 5001):
        a, found, b = scanned(stream, "fastq", list(range(0, len(stream), step)))
        assert (a.letters, b, found.header) == ("AC", Record("b", "GT", len(stream) - 11), "huge")
        assert found.problem is not None
        assert "more than" in found.problem
