from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.encoders import models, rows, workloads
from benchmarks.encoders.anchors import (
    RowUnavailableError,
    fair_esm_steps,
    hugging_face_steps,
    random_fair_esm2,
    random_hugging_face_esm2,
)
from benchmarks.encoders.report import merge
from benchmarks.encoders.timing import Step, Timing
from benchmarks.encoders.workloads import DNA500, ORF500, SHARE_OF_COPIES, SHORT, originals
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config


def test_workloads_have_the_named_lengths() -> None:
    orf500, short = ORF500.lengths(), SHORT.lengths()
    assert set(orf500) == {168}
    assert (short.min(), short.max()) == (32, 72)
    assert ORF500.counted(orf500) == 166 * len(orf500)
    assert np.array_equal(short, SHORT.lengths())
    dna = DNA500.lengths()
    assert abs(dna.mean() - 101) < 0.5
    assert DNA500.counted(dna) == len(dna)


def test_rows_measured_separately_are_merged_in_one_file(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    merge(file, {"a": {"rate": 1}})
    merge(file, {"b": {"rate": 2}})
    merge(file, {"a": {"rate": 3}})
    assert json.loads(file.read_text()) == {"a": {"rate": 3}, "b": {"rate": 2}}


TINY = Esm2Config(layers=2, width=32, heads=4, feed_forward=128)
CPU = torch.device("cpu")


def test_fair_esm_uses_the_batches_of_the_original_tool() -> None:
    pytest.importorskip("esm", reason="fair-esm is not installed")
    model = random_fair_esm2(CPU, TINY)
    lengths = np.arange(3, 303)
    steps = fair_esm_steps(model, lengths, CPU)
    assert 8 < len(steps) <= 16
    for step in steps:
        means = step.launch()
        assert isinstance(means, torch.Tensor)
        assert means.shape[1] == 32
        assert means.isfinite().all()
        longest = 1 + step.counted / len(means)
        assert len(means) * longest <= 2048


def test_hugging_face_counts_every_residue() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    model = random_hugging_face_esm2(CPU, TINY)
    lengths = np.array([40, 3, 17, 40, 9])
    steps = hugging_face_steps(model, lengths, 100, CPU)
    assert sum(step.counted for step in steps) == 109 - 10
    assert all(torch.as_tensor(step.launch()).isfinite().all() for step in steps)


def test_a_missing_library_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "esm", None)
    with pytest.raises(RowUnavailableError, match="fair-esm"):
        random_fair_esm2(CPU, TINY)


def test_the_stated_share_of_proteins_are_copies() -> None:
    number = originals(5000)
    assert np.array_equal(number[number], number)
    assert (number <= np.arange(5000)).all()
    assert np.mean(number != np.arange(5000)) == pytest.approx(SHARE_OF_COPIES, abs=0.001)


@pytest.mark.parametrize("name", rows.ROWS)
def test_every_row_counts_its_workload(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the first steps of every row on the CPU with tiny models, without timing."""
    if "hugging-face" in name:
        pytest.importorskip("transformers", reason="transformers is not installed")
    if "fair-esm" in name:
        pytest.importorskip("esm", reason="fair-esm is not installed")
    timed: list[Step] = []

    def time_steps(steps: list[Step], seconds: float, device: torch.device) -> Timing:
        timed.extend(steps)
        return Timing(1, 1, seconds, len(steps), 0, None, None, None)

    monkeypatch.setattr(rows, "time_steps", time_steps)
    monkeypatch.setattr(rows, "random_hugging_face_esm2", partial(random_hugging_face_esm2, config=TINY))
    monkeypatch.setattr(rows, "random_fair_esm2", partial(random_fair_esm2, config=TINY))
    monkeypatch.setattr(rows, "ESM2_PRODUCTS", ((2560, 16), (10240, 16)))
    monkeypatch.setattr(models, "ESM2_3B", TINY)
    monkeypatch.setattr(models, "DNABERT_S", replace(models.DNABERT_S, layers=1))
    monkeypatch.setattr(workloads, "RESIDUES", 5000)
    monkeypatch.setattr(Esm2, "to_fp8", lambda self: None)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    monkeypatch.setattr(models, "DTYPES", dict.fromkeys(models.DTYPES, torch.float32))
    settings = rows.Settings(CPU, 4096, 1.0)
    if name.endswith(("general", "compiled", "autotuned")):
        with pytest.raises(RowUnavailableError, match="GPU"):
            rows.ROWS[name].run(settings)
        return
    _, code = rows.ROWS[name].run(settings)
    for step in timed[:2]:
        step.launch()
    assert code
    if name.startswith(("esm2", "hugging-face", "fair-esm")):
        assert sum(step.counted for step in timed) == pytest.approx(5000, rel=0.1)
