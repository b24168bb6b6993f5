from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from virnucpro_backend.check.precision import (
    FrameResults,
    Verdict,
    check_precisions,
    compare_scores,
    compare_vectors,
    judge,
)
from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.fidelity.random_model import RandomWeights, write_random_model
from virnucpro_backend.weights.model_folder import load_model

DATA = Path(__file__).parents[1] / "data"
DEMO = DATA / "demo-model"
TOKENIZER = DEMO / "dnabert_s" / "tokenizer.json"
CPU = torch.device("cpu")
SMALL = RandomWeights(CPU, 1, Esm2Config(2, 64, 2, 128), DnabertSConfig(2, 48, 2, 96, 4096))


TEACHING = Path(__file__).parents[3] / "resources" / "teaching-model"


def test_each_precision_is_compared_and_judged_on_a_processor(tmp_path: Path) -> None:
    """BF16 is coarser than FP16; a processor has no FP8; the same precision twice does not differ at all."""
    few = tmp_path / "few.fa"
    few.write_text(">" + ">".join((DATA / "sample.fa").read_text().split(">")[1:9]))
    report = check_precisions("cpu", ["fp32", "bf16", "fp16", "fp8"], TEACHING, [few])
    assert report["frames"] > 20
    assert list(report["not_possible"]) == ["fp8"]
    bf16, fp16 = report["precisions"]["bf16"], report["precisions"]["fp16"]
    errors = [each["embeddings"]["ESM-2"]["relative_error"] for each in (fp16, bf16)]
    assert 1e-5 < errors[0] < errors[1] / 3 < 1e-2
    assert fp16["verdict"] == {"offered": True, "reason": ""}


def test_figures_match_plain_definitions() -> None:
    random = np.random.RandomState(0)
    reference = random.standard_normal((4000, 8)).astype(np.float32)
    ours = reference + 0.1 * random.standard_normal(reference.shape).astype(np.float32)
    cosines = sorted(
        float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in zip(ours, reference, strict=True)
    )
    figures = compare_vectors(ours, reference)
    assert sum(cosine < figures.cosine_p01 for cosine in cosines) == 4
    assert figures.relative_error == pytest.approx(
        float(np.linalg.norm(ours - reference) / np.linalg.norm(reference)), rel=1e-5
    )

    score2 = np.array([0.1, 0.49, 0.7, 0.9], np.float32)
    moved = np.array([0.1, 0.52, 0.71, 0.85], np.float32)
    scores = compare_scores(_results(moved), _results(score2))
    assert (scores.flips, scores.flip_share) == (1, 0.25)
    assert scores.difference_max == pytest.approx(0.05, abs=1e-6)


def test_a_precision_is_refused_for_labels_that_differ_and_for_results_that_are_no_numbers() -> None:
    score2 = np.full(1000, 0.9)
    figures = []
    for flips in (0, 10, 11):
        flipped = score2.copy()
        flipped[:flips] = 0.1
        figures.append(compare_scores(_results(flipped), _results(score2)))
    same, most, more = figures
    assert judge(same, 0) == judge(most, 0) == Verdict(True, "")
    assert "1.100 % of the labels" in judge(more, 0).reason
    assert not judge(same, 1).offered


def test_a_written_random_model_has_the_tensors_in_memory(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model", SMALL, TOKENIZER, 500)
    loaded = load_model(tmp_path / "model", CPU, "fp32")
    assert loaded.notice is not None
    stored = loaded.esm2.state_dict()
    for name, make in SMALL.esm2().items():
        assert torch.equal(stored[name], make().to(stored[name].dtype)), name


def _results(score2: np.ndarray) -> FrameResults:
    nothing = np.zeros((len(score2), 1), np.float32)
    values = score2.astype(np.float32)
    return FrameResults(nothing, nothing, 1 - values, values, 0, 0)
