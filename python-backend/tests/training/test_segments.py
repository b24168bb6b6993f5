"""Tests how segments are counted against planted stretches, and that contigs hold what planted.bed says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.fragments import TEST_FOLDS, Fragment
from training.segments import (
    FLANK,
    STRETCHES,
    Contig,
    border_error,
    false_per_mb,
    over_contigs,
    planted_contigs,
    read_contigs,
)


def test_segments_are_counted_against_the_planted_stretches(tmp_path: Path) -> None:
    lengths = {"exact": 12_000, "shifted": 12_000, "halves": 12_000, "wide": 22_000, "none": 12_000}
    (tmp_path / "contigs.fa").write_text("".join(f">{n}\n{'A' * k}\n" for n, k in lengths.items()))
    (tmp_path / "planted.bed").write_text("".join(f"{name}\t5000\t7000\n" for name in lengths))
    (tmp_path / "segments.bed").write_text(
        "# made up\n"
        "exact\t5000\t7000\tviral_looking_1\t900\t.\n"
        "exact\t0\t500\tviral_looking_2\t900\t.\n"  # false: all of it is host
        "shifted\t4500\t6100\tviral_looking_1\t900\t.\n"  # covers 1,100 of 2,000 bp
        "halves\t5000\t5900\tviral_looking_1\t900\t.\n"  # pieces: not found, not false
        "halves\t6100\t7000\tviral_looking_2\t900\t.\n"
        "wide\t0\t20000\tviral_looking_1\t900\t.\n"  # covers the stretch, but nine tenths of it are host
    )
    contigs = read_contigs(tmp_path, tmp_path / "segments.bed")
    assert [c.border_errors for c in contigs] == [[0, 0], [500, 900], [], [], []]
    assert [c.false for c in contigs] == [1, 0, 0, 1, 0]
    assert [c.apart for c in contigs] == [1, 0, 0, 0, 0]
    assert false_per_mb(contigs) == pytest.approx(2 / 0.06)
    assert border_error(contigs) == 250
    estimate = over_contigs(contigs, false_per_mb)
    assert estimate.low < estimate.value < estimate.high


def test_no_segment_at_all_is_no_error_of_borders() -> None:
    assert np.isnan(border_error([Contig(12_000, (5000, 7000), [])]))


def test_segments_of_another_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "contigs.fa").write_text(">a\nACGT\n")
    (tmp_path / "planted.bed").write_text("a\t1\t2\n")
    (tmp_path / "segments.bed").write_text("b\t1\t2\n")
    with pytest.raises(ValueError, match="such as b"):
        read_contigs(tmp_path, tmp_path / "segments.bed")


def test_contigs_hold_held_out_virus_where_it_is_planted_and_host_elsewhere() -> None:
    # Upper and lower case tell virus from host, N what training has seen.
    fragments = [
        Fragment(f"R{n}", 1, 3000, virus, ("A" if virus else "c") * 3000)
        for n in range(1300)
        for virus in (True, False)
    ]
    fragments = [
        f if f.fold in TEST_FOLDS else Fragment(f.record, 1, 3000, f.virus, "N" * 3000) for f in fragments
    ]
    contigs = planted_contigs(fragments, np.random.default_rng(0))
    assert {end - begin for _, _, begin, end in contigs} == set(STRETCHES)
    for _, letters, begin, end in contigs:
        assert begin >= FLANK
        assert end <= len(letters) - FLANK
        assert letters == "c" * begin + "A" * (end - begin) + "c" * (len(letters) - end)
