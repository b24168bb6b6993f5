"""Files are described before a run, and the run then does exactly that."""

from __future__ import annotations

import gzip
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from bad_inputs import table
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_definition import chunk_bounds, frames_of_chunk
from prepare_process import run_prepare, validate_problem, validator

from virnucpro_backend.prepare.frames import GeneticCode
from virnucpro_backend.prepare.inspect import LengthStatistics, inspect_file
from virnucpro_backend.prepare.judged import JudgedCounts
from virnucpro_backend.prepare.records.survey import InMemory


def inspected(path: Path, *looks: str) -> dict[str, Any]:
    event = {"type": "inspected", **inspect_file(path, looks)}
    validator("inspected-file").validate(json.loads(json.dumps(event)))
    for problem in event["problems"]:
        validate_problem(problem)
    return event


def codes(event: dict[str, Any]) -> set[str]:
    return {problem["code"] for problem in event["problems"]}


def test_every_bad_input_has_the_outcome_and_the_problems_of_the_table() -> None:
    written = (Path(__file__).parent / "bad_inputs.tsv").read_text(encoding="utf-8").splitlines()
    assert written == table()


MESSY = (
    b">a\n" + b"ACGTA" * 300 + b"\n>b\nACGTNNRY\n>a again\nacgt\n>empty\n>bad\nAC\x07GT\n"
    b"; comment\n>long\n" + b"A" * 70_000 + b"\n"
)


@pytest.mark.parametrize("block_bytes", [24, 29, 1 << 20])
def test_comment_lines_inside_sequences_are_counted_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr("virnucpro_backend.prepare.input_file.BLOCK_BYTES", block_bytes)
    path = tmp_path / "comments.fa"
    path.write_bytes(b"; of the file\n# too\n>a\nACGT\n# inside\nACGT\n; again\n>b\nACGT\n")
    event = inspected(path)
    [problem] = [problem for problem in event["problems"] if problem["code"] == "comment_lines"]
    assert problem["count"] == 2
    assert event["bases"] == 12


def test_a_messy_file_is_counted_correctly(tmp_path: Path) -> None:
    path = tmp_path / "messy.fa"
    path.write_bytes(gzip.compress(MESSY))
    event = inspected(path, "500", "500+300")
    lengths = [1500, 8, 4, 0, 5, 70_000]
    assert (event["format"], event["compression"]) == ("fasta", "gzip")
    assert (event["sequences"], event["bases"]) == (6, sum(lengths))
    assert (event["min_length"], event["median_length"], event["max_length"]) == (0, 5, 70_000)
    assert event["judged"]["500"]["shorter"] == 4
    assert (event["empty"], event["invalid_characters"], event["malformed"]) == (1, 1, 0)
    assert event["duplicate_ids"] == 1
    assert event["ambiguous_fraction"] == pytest.approx(5 / sum(lengths))
    assert codes(event) == {
        "empty",
        "invalid_characters",
        "duplicate_ids",
        "ambiguous_bases",
        "lower_case",
        "comment_lines",
    }
    outcome = run_prepare(tmp_path / "run", [path])
    assert outcome.last["records"] == event["sequences"]
    assert outcome.last["chunks"] == event["judged"]["500"]["chunks"]
    assert outcome.of("input_done")[0]["sha256"] == event["sha256"]
    said = {problem["code"]: problem["count"] for problem in event["problems"]}
    assert {code: problem["count"] for (_, code), problem in outcome.problems().items()} == said


def test_repeats_of_whole_headers_are_counted_beside_those_of_names(tmp_path: Path) -> None:
    path = tmp_path / "repeats.fa"
    path.write_bytes(b">seq 1\nACGT\n>seq 2\nACGT\n>other\nACGT\n" * 2)
    event = inspected(path)
    # The first "seq 2" repeats a name, but not a header.
    assert (event["duplicate_ids"], event["duplicate_headers"]) == (4, 3)


LETTERS = st.one_of(
    st.text("ACGT", max_size=1200),
    st.text("ACG", max_size=700),
    st.text("ACGTacgtNR-", max_size=700),
    st.text("N", max_size=700),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(LETTERS, max_size=12), st.sampled_from(get_args(GeneticCode)))
def test_judged_sequences_and_bases_agree_with_the_plain_definition(
    sequences: list[str], code: GeneticCode
) -> None:
    counted = JudgedCounts({"200": [200], "120": [120], "200+120": [200, 120]}, code)
    letters = np.frombuffer("".join(sequences).encode(), np.uint8)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    counted.add(InMemory(letters), lengths, lengths)
    for look in counted.looks.values():
        judged = [judged_by_definition(sequence, code, *look.chunk_lengths) for sequence in sequences]
        assert look.sequences == sum(bool(bases) for bases, _ in judged)
        assert look.bases == sum(len(bases) for bases, _ in judged)
        proteins = [protein for _, found in judged for protein in found]
        assert (look.frames, look.residues) == (len(proteins), sum(map(len, proteins)))


def judged_by_definition(
    sequence: str, code: GeneticCode, c: int, second: int | None = None
) -> tuple[set[int], list[str]]:
    """The bases that are judged, and the proteins of all open frames."""
    bases: set[int] = set()
    proteins: list[str] = []
    for begin, end in chunk_bounds(len(sequence), c):
        found = [protein for _, protein, _ in frames_of_chunk(sequence[begin:end], code)]
        if found:
            bases.update(range(begin, end))
        elif second is not None and end - begin > second:
            within, found = judged_by_definition(sequence[begin:end], code, second)
            bases.update(begin + base for base in within)
        proteins += found
    return bases, proteins


@pytest.mark.parametrize("spool_bytes", [4 << 20, 100_000])
def test_only_the_counts_of_very_long_records_are_estimates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spool_bytes: int
) -> None:
    monkeypatch.setattr("virnucpro_backend.prepare.records.survey.SPOOL_BYTES", spool_bytes)
    monkeypatch.setattr("virnucpro_backend.prepare.input_file.BLOCK_BYTES", 50_000)
    path = tmp_path / "random.fa"
    dice = random.Random(1)
    long, short = ("".join(dice.choices("ACGT", k=length)) for length in (900_000, 700))
    path.write_text(f">long\n{long}\n>short\n{short}\n")
    judged = inspected(path, "200")["judged"]["200"]
    outcome = run_prepare(tmp_path / "run", [path], chunk_length=200)
    assert judged["sequences"] == 2
    tolerance = 0 if spool_bytes > len(long) else 0.15
    assert judged["frames"] == pytest.approx(outcome.last["frames"], rel=tolerance)
    assert judged["residues"] == pytest.approx(outcome.last["residues"], rel=tolerance)


def test_each_unreadable_file_is_a_problem_and_the_others_are_read(tmp_path: Path) -> None:
    cut, missing, good = tmp_path / "cut.fa.gz", tmp_path / "missing.fa", tmp_path / "good.fa"
    cut.write_bytes(gzip.compress(MESSY)[:-20])
    good.write_bytes(b">a\nACGT\n")
    command = [sys.executable, "-X", "utf8", "-u", "-m", "virnucpro_backend.prepare.inspect"]
    paths = [str(path) for path in (cut, missing, tmp_path, Path(sys.executable), good)]
    result = subprocess.run([*command, "--look", "300", *paths], capture_output=True, check=True)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    for event in events:
        validator("inspected-file").validate(event)
    assert [event["path"] for event in events] == paths
    first = [event["problems"][0]["code"] for event in events[:4]]
    assert first == ["input_truncated", "input_unreadable", "input_unreadable", "not_sequence_file"]
    assert events[4]["problems"] == []
    assert events[4]["sequences"] == 1
    assert result.stderr == b""
    lines = "".join(json.dumps(path) + "\n" for path in paths).encode()
    piped = subprocess.run([*command, "--look", "300"], input=lines, capture_output=True, check=True)
    assert piped.stdout == result.stdout


@settings(max_examples=200)
@given(st.lists(st.one_of(st.integers(0, 2000), st.integers(60_000, 70_000), st.just(10**9)), max_size=40))
def test_length_statistics_are_exact(lengths: list[int]) -> None:
    found = LengthStatistics()
    for begin in range(0, len(lengths), 7):
        found.add(np.array(lengths[begin : begin + 7], np.int64))
    expected = (min(lengths), statistics.median_low(lengths), max(lengths)) if lengths else (0, 0, 0)
    assert found.minimum_median_maximum() == expected
    assert found.below(500) == sum(length < 500 for length in lengths)
    assert found.below(65_000) == sum(length < 65_000 for length in lengths)


def test_what_is_below_the_minimum_length_is_counted_and_judges_no_file(tmp_path: Path) -> None:
    path = tmp_path / "short.fa"
    protein = "MEFILPQZKLAEEILLQF"
    path.write_text(
        "".join(f">p{i}\n{protein}\n" for i in range(3)) + ">gene\n" + "ACGTA" * 4 + "\n>none\n\n"
    )
    assert "looks_like_protein" in codes(inspect_file(path, ["500"]))
    event = inspect_file(path, ["500"], min_length=20)
    found = {problem["code"]: problem["count"] for problem in event["problems"]}
    assert found == {"below_min_length": 3, "empty": 1}
    assert event["sequences"] == 5
    assert event["judged"]["500"]["chunks"] == 1
    assert event["bytes"]["used"] == len(">gene\n") + 21
    assert sum(event["bytes"].values()) == path.stat().st_size
