"""Repairs during reading give the same result as a file that was repaired by hand."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from prepare_process import run_prepare

from virnucpro_backend.prepare import input_file
from virnucpro_backend.prepare.extract import ExtractInput, extract
from virnucpro_backend.prepare.inspect import inspect_file
from virnucpro_backend.prepare.scanning.scanner import Repair

ALL: tuple[Repair, ...] = ("read_u_as_t", "remove_gaps", "whole_headers_as_names")
LETTERS = "AUGGCUAG-CUAGCUAGC..UAUUUgcuagcuaGGCAUCGAUCGACUAGCUAC" * 12
WRITTEN = "".join(f">seq {i}\tK\xe4fer \n{LETTERS[i:]}\n" for i in range(40)) + ">gaps only\n--..\n>\n\n"
BY_HAND = re.sub(
    r"(?m)^(?!>).*$",
    lambda line: line[0].replace("U", "T").replace("u", "t").replace("-", "").replace(".", ""),
    "".join(f">seq_{i}_K\xe4fer\n{LETTERS[i:]}\n" for i in range(40)) + ">gaps_only\n--..\n>\n\n",
)


@pytest.mark.parametrize("block_bytes", [29, 1 << 20])
def test_a_repaired_run_equals_one_of_a_file_repaired_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    written, by_hand = tmp_path / "written.fa", tmp_path / "by_hand.fa"
    written.write_bytes(WRITTEN.encode("latin-1"))
    by_hand.write_text(BY_HAND, encoding="utf-8")
    mended = run_prepare(tmp_path / "mended", [written], chunk_length=200, repairs=ALL)
    wanted = run_prepare(tmp_path / "wanted", [by_hand], chunk_length=200)
    assert mended.headers() == wanted.headers()
    assert [part["sha256"] for part in mended.of("part")] == [part["sha256"] for part in wanted.of("part")]
    for name, values in wanted.records().items():
        if name != "byte_offset":
            np.testing.assert_array_equal(mended.records()[name], values)

    monkeypatch.setattr(input_file, "BLOCK_BYTES", block_bytes)
    of_the_file = {"path": "", "size_bytes": 0, "sha256": "", "bytes": {}}
    assert {**inspect_file(written, ["200"], ALL), **of_the_file} == {
        **inspect_file(by_hand, ["200"]),
        **of_the_file,
    }
    for repairs, source, out in ((ALL, written, "mended.fna"), ((), by_hand, "wanted.fna")):
        inputs = [ExtractInput(source, hashlib.sha256(source.read_bytes()).hexdigest(), repairs)]
        extract(inputs, np.arange(42, dtype=np.uint32), tmp_path / out)
    assert (tmp_path / "mended.fna").read_bytes() == (tmp_path / "wanted.fna").read_bytes()
