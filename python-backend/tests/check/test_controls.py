"""The controls accept the teaching model and detect the fault of a sabotaged one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from virnucpro_backend.check.original import Difference
from virnucpro_backend.check.panel import KnownScores, judge, panel_file, run_controls
from virnucpro_backend.check.result import CheckResult
from virnucpro_backend.check.scoring import ScoredSequences, auroc, score_sequences
from virnucpro_backend.encoders.tokens import TokenSequences
from virnucpro_backend.inference import loading
from virnucpro_backend.weights.model_folder import LoadedModel

RESOURCES = Path(__file__).parents[3] / "resources"
TEACHING = RESOURCES / "teaching-model"


@pytest.fixture(scope="module")
def scored() -> ScoredSequences:
    return score_sequences([panel_file(RESOURCES, 500)], TEACHING, "cpu", "fp32")


def test_auroc_is_the_share_of_correctly_ordered_pairs() -> None:
    random = np.random.default_rng(2)
    positive = random.random(60) < 0.4
    scores = np.round(random.normal(size=60) + positive, 1)  # with ties
    pairs = [(p > n) + (p == n) / 2 for p in scores[positive] for n in scores[~positive]]
    assert auroc(positive, scores) == pytest.approx(float(np.mean(pairs)))


def controls(precision: str = "fp32", **options: Any) -> CheckResult:
    return run_controls(TEACHING, "cpu", precision, RESOURCES, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_teaching_model_passes(precision: str) -> None:
    report = controls(precision)
    assert report.verdict == "works", report.figures
    assert report.figures is not None
    groups = {group["group"]: group for group in report.figures["groups"]}
    assert {name: group["sequences"] for name, group in groups.items()} == {
        "viral": 100,
        "host": 100,
        "crassphage": 20,
        "shuffled": 40,
    }
    assert all(group["scored"] == group["sequences"] for group in groups.values())
    assert groups["crassphage"]["called_virus"] > groups["crassphage"]["sequences"] / 2


def test_the_quick_panel_has_twenty_sequences_per_group() -> None:
    report = controls(quick=True)
    assert report.figures is not None
    groups = report.figures["groups"]
    assert [(g["group"], g["sequences"]) for g in groups] == [("viral", 20), ("host", 20)]
    assert report.verdict == "works"


def test_an_untrained_model_is_no_better_than_chance() -> None:
    report = run_controls(Path(__file__).parents[1] / "data" / "demo-model", "cpu", "fp32", RESOURCES)
    assert report.verdict == "weak"


def swapped_head(model: LoadedModel) -> None:
    layer = model.head.output_layer
    layer.weight.copy_(layer.weight.flip(0))
    layer.bias.copy_(layer.bias.flip(0))


def shuffled_tokenizer(model: LoadedModel) -> None:
    encode = model.tokenizer.encode
    order = np.random.default_rng(1).permutation(model.tokenizer.vocabulary).astype(np.int32)

    def shuffled(*arguments: Any) -> TokenSequences:
        tokens = encode(*arguments)
        return replace(tokens, tokens=order[tokens.tokens])

    model.tokenizer.encode = shuffled  # type: ignore[method-assign]


def weights_with_nan(model: LoadedModel) -> None:
    model.esm2.embedding.weight[7, 3] = torch.nan


def one_frame_that_is_no_number(model: LoadedModel) -> None:
    """Whichever comes first, however often it is computed again."""
    score = model.head.score
    first: list[Tensor] = []

    def holed(vectors: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
        if not first:
            first.append(vectors[0].clone())
        bad = torch.isclose(vectors, first[0], atol=1e-4).all(dim=1)
        score1, score2 = score(vectors, *others)
        return score1.masked_fill(bad, torch.nan), score2.masked_fill(bad, torch.nan)

    model.head.score = holed  # type: ignore[method-assign]


def a_damaged_kernel(model: LoadedModel) -> None:
    """Attention of DNABERT-S gives every token the result of another one."""
    attention = model.dnabert_s.attention

    class Damaged:
        def __call__(self, *arguments: Any, **options: Any) -> Tensor:
            return attention(*arguments, **options).roll(37, 0) * 3

        def __getattr__(self, name: str) -> Any:
            return getattr(attention, name)

    model.dnabert_s.attention = Damaged()  # type: ignore[assignment]


def scores_shifted_by_one_row(model: LoadedModel) -> None:
    score = model.head.score

    def slipped(*arguments: Tensor) -> tuple[Tensor, Tensor]:
        score1, score2 = score(*arguments)
        return score1.roll(1), score2.roll(1)

    model.head.score = slipped  # type: ignore[method-assign]


SABOTAGES: dict[Callable[[LoadedModel], None], str] = {
    swapped_head: "differs",
    shuffled_tokenizer: "differs",
    weights_with_nan: "no_answer",
    one_frame_that_is_no_number: "no_answer",
    a_damaged_kernel: "differs",
    scores_shifted_by_one_row: "differs",
}


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.__name__)
def test_a_sabotaged_model_is_detected(
    sabotage: Callable[[LoadedModel], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    load = loading.open_and_load

    def load_and_sabotage(*arguments: Any) -> Any:
        ready = load(*arguments)
        with torch.inference_mode(False), torch.no_grad():
            sabotage(ready.model)
        return ready

    monkeypatch.setattr(loading, "open_and_load", load_and_sabotage)
    report = controls()
    assert report.verdict == SABOTAGES[sabotage], report.figures
    # Detection must not depend on known scores, which only the program's own models have.
    scored = score_sequences([panel_file(RESOURCES, 500)], TEACHING, "cpu", "fp32")
    verdict, _ = judge(scored, "fp32", None)
    assert verdict == ("no_answer" if report.verdict == "no_answer" else "weak")


def test_rounding_that_turns_calls_condemns_no_device_but_wrong_frames_do(scored: ScoredSequences) -> None:
    """A hundredth turns a call where a frame is as sure of one class as another frame is of the other."""
    known: KnownScores = {header.split()[0]: [] for header in scored.headers}
    host = scored.headers.index(next(header for header in scored.headers if header.startswith("host_")))
    opposed = np.array([[0.1, 0.9], [0.9, 0.1]], np.float32)

    def with_host(frames: npt.NDArray[np.float32]) -> ScoredSequences:
        others = scored.chunk_of != host
        chunk_of = np.concatenate((scored.chunk_of[others], [host, host]))
        order = np.argsort(chunk_of, kind="stable")
        scores = np.concatenate((scored.scores[others], frames))
        return replace(scored, chunk_of=chunk_of[order], scores=scores[order])

    one = with_host(opposed)
    for chunk, score in zip(one.chunk_of, one.scores[:, 1], strict=True):
        known[scored.headers[chunk].split()[0]].append(float(score))
    turned = with_host(opposed + np.array([[0.005, -0.005], [0, 0]], np.float32))
    assert abs(turned.chunk_scores[host] - one.chunk_scores[host]) > 0.7
    assert judge(turned, "fp16", known)[0] == "works"
    assert judge(with_host(opposed[::-1]), "fp16", known)[0] == "differs"


def test_answers_that_are_not_the_originals_fail_a_model_that_separates_the_classes(
    scored: ScoredSequences,
) -> None:
    assert judge(scored, "fp32", None, {"norm": Difference(1e-5, 1e-3)})[0] == "works"
    assert judge(scored, "fp32", None, {"norm": Difference(0.12, 1e-3)})[0] == "differs"
