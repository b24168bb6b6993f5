from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.fidelity.agreement import FrameResults, compare_scores, compare_vectors
from virnucpro_backend.fidelity.measure import Measurement, frames_of
from virnucpro_backend.fidelity.panel import compare
from virnucpro_backend.fidelity.random_model import RandomWeights, write_random_model
from virnucpro_backend.fidelity.verdict import Verdict, default_precision, judge, recommend
from virnucpro_backend.selftest.__main__ import main
from virnucpro_backend.weights.model_folder import load_model

DATA = Path(__file__).parents[1] / "data"
DEMO = DATA / "demo-model"
TOKENIZER = DEMO / "dnabert_s" / "tokenizer.json"
CPU = torch.device("cpu")
SMALL = RandomWeights(CPU, 1, Esm2Config(2, 64, 2, 128), DnabertSConfig(2, 48, 2, 96, 4096))


@pytest.fixture(scope="module")
def sample() -> Path:
    return DATA / "sample.fa"


def test_fp32_against_itself_is_exact_and_halved_batches_change_nothing_on_a_cpu(sample: Path) -> None:
    parts = frames_of([sample], 500, 8192)
    measurement = Measurement(partial(load_model, DEMO, CPU), parts, 1024, bounded_parts=1, scaled_head=False)
    reference, again = measurement.measure("fp32"), measurement.measure("fp32")
    for vectors in compare(again.results, reference.results).vectors.values():
        assert vectors.relative_error == vectors.relative_error_max == 0
        assert vectors.cosine_min == pytest.approx(1, abs=1e-12)
    scores = compare_scores(again.results, reference.results)
    assert (scores.difference_max, scores.flips) == (0, 0)
    assert reference.bounded is not None
    assert reference.bounded.frames == parts[0].count
    assert reference.bounded.halved_batches == reference.bounded.bisected_part == 0


def test_half_precision_is_close_and_bf16_is_coarser(sample: Path, tmp_path: Path) -> None:
    write_random_model(tmp_path, SMALL, TOKENIZER, 500)
    parts = frames_of([sample], 500, 8192)[:1]
    measurement = Measurement(
        partial(load_model, tmp_path, CPU), parts, 2048, bounded_parts=0, scaled_head=True
    )
    reference = measurement.measure("fp32").results
    errors = {}
    for precision in ("fp16", "bf16"):
        run = measurement.measure(precision)  # type: ignore[arg-type]
        errors[precision] = compare(run.results, reference).vectors["ESM-2"].relative_error
    assert 1e-5 < errors["fp16"] < errors["bf16"] / 3 < 1e-2
    # The random head is scaled to these frames: it calls half of them virus, with scores of all sizes.
    assert 0.4 < reference.is_virus.mean() < 0.6
    assert reference.score2.std() > 0.2


def test_figures_match_plain_definitions() -> None:
    random = np.random.RandomState(0)
    reference = random.standard_normal((4000, 8)).astype(np.float32)
    ours = reference + 0.1 * random.standard_normal(reference.shape).astype(np.float32)
    cosines = sorted(
        float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in zip(ours, reference, strict=True)
    )
    figures = compare_vectors(ours, reference)
    assert figures.cosine_min == pytest.approx(cosines[0], abs=1e-6)
    assert sum(cosine < figures.cosine_p01 for cosine in cosines) == 4
    assert figures.cosine_median == pytest.approx(cosines[2000], abs=1e-4)
    assert figures.relative_error == pytest.approx(
        float(np.linalg.norm(ours - reference) / np.linalg.norm(reference)), rel=1e-5
    )

    score2 = np.array([0.1, 0.49, 0.7, 0.9], np.float32)
    moved = np.array([0.1, 0.52, 0.71, 0.85], np.float32)
    scores = compare_scores(_results(moved), _results(score2))
    assert (scores.flips, scores.flip_share) == (1, 0.25)
    assert scores.difference_max == pytest.approx(0.05, abs=1e-6)


def test_fp8_is_refused_for_cosine_flips_or_non_finite_results() -> None:
    good = compare_vectors(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32))
    same = compare_scores(_results(np.full(2000, 0.9)), _results(np.full(2000, 0.9)))
    assert judge("fp8", "fp16", {"ESM-2": good}, same, failed=0) == Verdict(True, "")
    assert "no finite" in judge("fp8", "fp16", {"ESM-2": good}, same, failed=1).reason

    rotated = np.tile(np.array([[1.0, 0.05]], np.float32), (100, 1))
    off = compare_vectors(rotated, np.tile(np.array([[1.0, 0.0]], np.float32), (100, 1)))
    refused = judge("fp8", "fp16", {"ESM-2": off}, same, failed=0)
    assert not refused.offered
    assert "0.998752" in refused.reason
    assert "FP16" in refused.reason
    assert judge("bf16", "fp32", {"ESM-2": off}, same, failed=0).offered

    flipped = np.full(2000, 0.9)
    flipped[:3] = 0.1
    flips = compare_scores(_results(flipped), _results(np.full(2000, 0.9)))
    assert "0.150 %" in judge("fp8", "fp16", {"ESM-2": good}, flips, failed=0).reason
    assert judge("fp16", "fp32", {"ESM-2": good}, flips, failed=0).offered
    flipped[:5] = 0.1
    flips = compare_scores(_results(flipped), _results(np.full(2000, 0.9)))
    assert (
        "0.250 % of the labels flip against FP32" in judge("fp16", "fp32", {"ESM-2": good}, flips, 0).reason
    )
    assert judge("bf16", "fp32", {"ESM-2": good}, flips, failed=0).offered

    broken = compare_vectors(np.full((3, 2), np.nan, np.float32), np.ones((3, 2), np.float32))
    assert not judge("fp16", "fp32", {"ESM-2": broken}, same, failed=0).offered


def test_recommendation_is_the_fastest_that_passes() -> None:
    passed, refused = Verdict(True, ""), Verdict(False, "it is off")
    assert recommend({"fp16": passed, "bf16": passed, "fp8": passed}) == "bf16"
    assert recommend({"fp16": passed, "bf16": refused}) == "fp16"
    assert recommend({"fp16": refused, "bf16": refused, "fp8": passed}) == "fp32"


def test_without_trained_weights_the_default_is_what_a_run_would_choose() -> None:
    expected = {(9, 0): "bf16", (8, 0): "bf16", (7, 5): "fp16", (7, 0): "fp16", (6, 1): "fp32", None: "fp32"}
    assert {capability: default_precision(capability) for capability in expected} == expected


def test_a_written_random_model_equals_the_one_in_memory(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model", SMALL, TOKENIZER, 500)
    loaded = load_model(tmp_path / "model", CPU, "fp32")
    made, _ = SMALL.encoders("fp32")
    assert loaded.notice is not None
    for name, tensor in made.state_dict().items():
        assert torch.equal(loaded.esm2.state_dict()[name], tensor), name


def test_the_command_writes_its_file(
    tmp_path: Path, sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small.fa"
    small.write_text("".join(sample.read_text().partition("\n")[0:2]) + "ACGTTGCA" * 200 + "\n")
    words = ["precision", "--model", DEMO, "--input", small, "--device", "cpu"]
    words += ["--precisions", "bf16", "--tokens-per-batch", "1024", "--json", tmp_path / "out.json"]
    assert main([str(word) for word in words]) == 0
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["recommended"] == "fp32"
    assert content["settles_it"] is False
    assert content["precisions"]["bf16"]["against"]["fp32"]["embeddings"]["ESM-2"]["cosine_min"] > 0.99
    assert content["versions"]["torch"] == torch.__version__
    printed = capsys.readouterr().out
    assert "The default here is fp32." in printed


def _results(score2: np.ndarray) -> FrameResults:
    nothing = np.zeros((len(score2), 1), np.float32)
    values = score2.astype(np.float32)
    return FrameResults(nothing, nothing, 1 - values, values, 0, 0)
