from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from virnucpro_backend.check.precision import check_precisions, compare, judge
from virnucpro_backend.check.scoring import ScoredSequences
from virnucpro_backend.prepare.chunking import chunk_table

DATA = Path(__file__).parents[1] / "data"
TEACHING = Path(__file__).parents[3] / "resources" / "teaching-model"


def test_each_precision_is_compared_and_judged_on_a_processor(tmp_path: Path) -> None:
    """BF16 is coarser than FP16; a processor has no FP8; the same precision twice does not differ at all."""
    few = tmp_path / "few.fa"
    few.write_text(">" + ">".join((DATA / "sample.fa").read_text().split(">")[1:9]))
    fp16, bf16, fp8 = check_precisions("cpu", ["fp32", "fp16", "bf16", "fp8"], TEACHING, [few])
    assert [each.precision for each in (fp16, bf16, fp8)] == ["fp16", "bf16", "fp8"]
    assert (fp8.verdict, fp8.figures) == ("no_answer", None)
    assert fp8.problem
    assert fp16.figures is not None
    assert bf16.figures is not None
    assert fp16.figures["frames"] > 20
    assert 1e-6 < fp16.figures["difference_max"] < bf16.figures["difference_max"] / 2 < 0.1
    assert fp16.verdict == "works"


def test_a_precision_is_refused_for_labels_that_differ_and_for_results_that_are_no_numbers() -> None:
    score2 = np.full(1000, 0.9)
    verdicts = []
    for flips in (0, 10, 11):
        flipped = score2.copy()
        flipped[:flips] = 0.1
        found = compare(_results(flipped), _results(score2))
        assert (found.flips, found.flip_share) == (flips, flips / 1000)
        assert found.difference_max == pytest.approx(0.8 if flips else 0)
        verdicts.append(judge(found))
    assert verdicts == ["works", "works", "differs"]
    for unsure in ({"failed": 1}, {"recomputed": 1}):
        assert judge(compare(_results(score2, **unsure), _results(score2))) == "no_answer"
    assert compare(_results(np.full(1000, np.nan)), _results(score2)).difference_max == 1


def _results(score2: npt.NDArray[np.float64], failed: int = 0, recomputed: int = 0) -> ScoredSequences:
    """Scores of sequences of one frame."""
    scores = np.stack((1 - score2, score2), axis=1).astype(np.float32)
    chunks = chunk_table(np.full(score2.size, 500), 500)
    return ScoredSequences((), chunks, np.arange(score2.size), scores, failed, recomputed)
