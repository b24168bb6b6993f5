"""Checks a run's promises about GPUs: equal frames score equally, and a part that is cut in two stays within
the tolerance that run.json states (BOUNDED_TOLERANCE in electron/contract/plan.ts)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from made_parts import DEMO_MODEL, random_frames

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.weights.model_folder import load_model

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
PLAN = Path(__file__).parents[3] / "electron" / "contract" / "plan.ts"


def scorer(precision: Precision, once: bool) -> PartScorer:
    model = load_model(DEMO_MODEL, torch.device("cuda", 0), precision)
    return PartScorer(model, 4096, once, None, lambda device: load_model(DEMO_MODEL, device, "fp32"))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "bf16"])
def test_a_part_cut_in_two_stays_within_the_stated_tolerance(precision: Precision) -> None:
    (stated,) = re.findall(r"BOUNDED_TOLERANCE.*? = \{(.*?)\};", PLAN.read_text(encoding="utf-8"), re.S)
    (tolerance,) = re.findall(rf"{precision}: ([0-9e.-]+)", stated)
    frames = random_frames(300, seed=31)
    whole = scorer(precision, once=False).score(frames).score2
    halves = [
        scorer(precision, once=False).score(frames.subset(half)).score2
        for half in np.array_split(np.arange(frames.count), 2)
    ]
    assert np.abs(np.concatenate(halves) - whole).max() <= float(tolerance)


@pytest.mark.parametrize("precision", ["fp32", "fp16", "bf16"])
def test_equal_frames_score_equally_and_as_if_alone(precision: Precision) -> None:
    frames = random_frames(100, seed=32)
    order = np.random.default_rng(33).permutation(np.repeat(np.arange(100), 3))
    once = scorer(precision, once=True).score(frames.subset(order))
    each = scorer(precision, once=False).score(frames).score2
    assert once.repeated_proteins == once.repeated_nucleotides == 200
    for number in range(100):
        (score,) = set(once.score2[order == number].tolist())
        assert score == pytest.approx(each[number], abs=1e-5)
