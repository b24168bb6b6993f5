"""Extracted records equal those of a plain reader."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bad_inputs import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from virnucpro_backend.prepare import input_file
from virnucpro_backend.prepare.extract import ExtractInput, extract
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.records.headers import readable_header


def as_input(path: Path, content: bytes) -> ExtractInput:
    path.write_bytes(content)
    return ExtractInput(path, hashlib.sha256(content).hexdigest())


def expected(records: list[tuple[bytes, bytes]], rows: list[int]) -> bytes:
    """FASTA of these rows of two files that both hold these records."""
    text = b""
    for row in rows:
        number = row % len(records)
        header, letters = records[number]
        text += b">" + readable_header(header, number) + b"\n"
        for begin in range(0, len(letters), 80):
            text += letters[begin : begin + 80] + b"\n"
    return text


headers = st.binary(max_size=12).map(lambda text: text.translate(None, b"\r\n\x00\x1a\xc2\xe2\xef"))
letters = st.lists(st.sampled_from(b"ACGTacgtNRY"), max_size=400).map(bytes)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(st.tuples(headers, letters), min_size=1, max_size=12),
    chosen=st.sets(st.integers(0, 23)),
    width=st.integers(1, 120),
    block_bytes=st.sampled_from([7, 64, 1 << 20]),
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_rows_are_extracted_as_they_are_in_the_inputs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    records: list[tuple[bytes, bytes]],
    chosen: set[int],
    width: int,
    block_bytes: int,
    line_end: bytes,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(input_file, "BLOCK_BYTES", block_bytes)
        content = b""
        for header, sequence in records:
            lines = [sequence[i : i + width] for i in range(0, len(sequence), width)]
            content += line_end.join([b">" + header, *lines]) + line_end
        first = as_input(tmp_path / "first.fasta", content)
        second = as_input(tmp_path / "second.fasta.gz", gzip.compress(content))
        rows = sorted(row for row in chosen if row < 2 * len(records))
        out = tmp_path / "out.fna"
        count = extract([first, second], np.array(rows, np.uint32), out)
    assert count == len(rows)
    assert out.read_bytes() == expected(records, rows)


def test_a_suffix_is_added_to_every_header(tmp_path: Path) -> None:
    source = as_input(tmp_path / "in.fasta", b">a one\nACGT\n>b\nGGCC\n>\nTT\n")
    out = tmp_path / "out.fna"
    extract([source], np.array([0, 1, 2], np.uint32), out, "DEMO (no meaning)")
    assert out.read_bytes() == (
        b">a one DEMO (no meaning)\nACGT\n>b DEMO (no meaning)\nGGCC\n>unnamed_3 DEMO (no meaning)\nTT\n"
    )


def test_every_compression_and_fastq_can_be_extracted_from(tmp_path: Path) -> None:
    fasta = b">a one\nACGT\n>b two\nTTTT\n"
    fastq = b"@c three\nGGGG\n+\nIIII\n@d four\nccnn\n+\n@@@@\n"
    inputs = [
        as_input(tmp_path / "1", bz2.compress(fasta)),
        as_input(tmp_path / "2", lzma.compress(fastq)),
        as_input(tmp_path / "3", zstd.compress(fasta)),
    ]
    out = tmp_path / "out.fna"
    extract(inputs, np.array([1, 3, 4], np.uint32), out)
    assert out.read_bytes() == b">b two\nTTTT\n>d four\nccnn\n>a one\nACGT\n"


@pytest.mark.parametrize(
    ("content", "rows", "code"), [(b">a\nACGA\n", [0], "input_changed"), (b">a\nACGT\n", [0, 5], "internal")]
)
def test_a_changed_input_and_rows_beyond_it_are_refused_and_leave_no_file(
    tmp_path: Path, content: bytes, rows: list[int], code: str
) -> None:
    source = as_input(tmp_path / "in.fasta", b">a\nACGT\n")
    source.path.write_bytes(content)
    with pytest.raises(PrepareError) as failure:
        extract([source], np.array(rows, np.uint32), tmp_path / "out.fna")
    assert failure.value.code == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.fasta"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    source = as_input(tmp_path / "in.fasta", b">a\nACGT\n")
    for name in ("out.fna.123.tmp", "out.fna.124.tmp", "other.fna.123.tmp"):
        (tmp_path / name).write_bytes(b">half")
    extract([source], np.array([0], np.uint32), tmp_path / "out.fna")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.fasta", "other.fna.123.tmp", "out.fna"]


def test_without_rows_no_input_is_read(tmp_path: Path) -> None:
    out = tmp_path / "out.fna"
    assert extract([ExtractInput(tmp_path / "gone", "0" * 64)], np.zeros(0, np.uint32), out) == 0
    assert out.read_bytes() == b""


def run_module(command: dict[str, object]) -> tuple[int, dict[str, object]]:
    process = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "virnucpro_backend.prepare.extract"],
        input=json.dumps(command).encode() + b"\n",
        capture_output=True,
        check=False,
    )
    return process.returncode, json.loads(process.stdout)


def test_the_process_answers_in_one_line(tmp_path: Path) -> None:
    source = as_input(tmp_path / "in.fasta", b">a\nACGT\n>b \xe9t\xe9\nCC\n")
    rows = tmp_path / "rows"
    np.array([1], "<u4").tofile(rows)
    command: dict[str, object] = {
        "type": "extract",
        "inputs": [{"path": str(source.path), "sha256": source.sha256}],
        "rows_path": str(rows),
        "out_path": str(tmp_path / "out.fna"),
    }
    assert run_module(command) == (0, {"type": "extracted", "records": 1})
    assert (tmp_path / "out.fna").read_text(encoding="utf-8") == ">b été\nCC\n"

    source.path.unlink()
    status, answer = run_module(command)
    assert (status, answer["type"], answer["code"]) == (1, "extract_failed", "input_unreadable")
    assert (tmp_path / "out.fna").exists()

    status, answer = run_module({**command, "rows_path": 7})
    assert (status, answer["code"]) == (1, "protocol_version")
