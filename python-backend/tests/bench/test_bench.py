from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from virnucpro_backend.bench.report import merge
from virnucpro_backend.bench.workloads import DNA500, ORF500, SHORT


def test_workloads_are_what_they_are_called() -> None:
    orf500, short = ORF500.lengths(), SHORT.lengths()
    assert set(orf500) == {168}
    assert (short.min(), short.max()) == (32, 72)
    assert ORF500.counted(orf500) == 166 * len(orf500)
    assert np.array_equal(short, SHORT.lengths())
    dna = DNA500.lengths()
    assert abs(dna.mean() - 101) < 0.5
    assert DNA500.counted(dna) == len(dna)


def test_rows_measured_one_at_a_time_come_together_in_one_file(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    merge(file, {"a": {"rate": 1}})
    merge(file, {"b": {"rate": 2}})
    merge(file, {"a": {"rate": 3}})
    assert json.loads(file.read_text()) == {"a": {"rate": 3}, "b": {"rate": 2}}
