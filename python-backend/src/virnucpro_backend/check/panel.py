"""The panel of control sequences: scores it with a model, and judges the answers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from virnucpro_backend.check.original import Difference, compare_with_original, largest, read_answers
from virnucpro_backend.check.result import CheckResult, Verdict
from virnucpro_backend.check.scoring import ScoredSequences, auroc, open_panel_scorer, score_with
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.encoders.precision import ALLOWED_SCORE
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.model_json import read_model_json

Group = Literal["viral", "host", "crassphage", "shuffled"]
GROUPS: tuple[Group, ...] = ("viral", "host", "crassphage", "shuffled")
QUICK_PER_GROUP = 20

LOWEST_AUROC = 0.8
"""Counting k-mers, which takes no time, reaches about 0.83 on pieces like the panel's. A lower value means
that the model or its computation is not worth the effort; about 0.5 is chance, and near 0 the classes are
swapped."""
FEWEST_SCORED = 0.95
"""Every sequence of the panel has an open frame, so each must get a score."""


@dataclass(frozen=True)
class GroupResult:
    """A model's results on a group."""

    group: Group
    sequences: int
    scored: int
    called_virus: int


def panel_file(resources: Path, chunk_length: int) -> Path:
    """The panel for a model's chunk length: its pieces are as long as possible within one chunk."""
    return resources / "controls" / ("500.fa" if chunk_length >= 500 else "300.fa")


def run_controls(
    model_folder: Path, kind: DeviceKind, precision: Precision, resources: Path, *, quick: bool = False
) -> CheckResult:
    """Score the panel with a model, and judge the answers.

    `quick`: only 20 viral and 20 host sequences. Raises WeightsError, LoadFailedError,
    PrepareError and PartFailedError.
    """
    model = read_model_json(model_folder)
    path = panel_file(resources, model.chunk_length)
    with tempfile.TemporaryDirectory(prefix="virnucpro-panel-") as folder:
        sequences = _write_quick_panel(path, Path(folder)) if quick else path
        scorer = open_panel_scorer(model_folder, kind, precision)
        scored = score_with(scorer, [sequences], model.chunk_length)
    answers = next((each for each in read_answers(resources) if each.apply_to(model)), None)
    verdict, figures = judge(
        scored,
        precision,
        known_scores(resources, model.model_hash, path),
        {} if answers is None else compare_with_original(answers, scorer, precision),
    )
    panel = {"file": path.name, "sha256": sha256_of_file(path), "quick": quick}
    return CheckResult(precision, verdict, {"panel": panel, **figures})


def _write_quick_panel(panel: Path, folder: Path) -> Path:
    quick = folder / panel.name
    with quick.open("w", encoding="utf-8") as written:
        for record in panel.read_text(encoding="utf-8").split(">")[1:]:
            group, number = _group_and_number(record)
            if group in ("viral", "host") and number <= QUICK_PER_GROUP:
                written.write(f">{record}")
    return quick


KnownScores = dict[str, list[float]]
"""P(virus) in FP32 of the frames of each sequence, in order, by its name."""


def known_scores(resources: Path, model_hash: str, panel: Path) -> KnownScores | None:
    """The panel's known scores; None unless the model comes with the program."""
    content = json.loads((resources / "controls" / "known-scores.json").read_text(encoding="utf-8"))
    by_panel = msgspec.convert(content, dict[str, dict[str, KnownScores]])
    return by_panel.get(model_hash, {}).get(panel.name)


def judge(
    scored: ScoredSequences,
    precision: Precision,
    known: KnownScores | None,
    original: Mapping[str, Difference] = MappingProxyType({}),
) -> tuple[Verdict, dict[str, Any]]:
    """The verdict and its figures: groups, `auroc`, and differences from known and the original's answers.

    Raises ValueError if a sequence is longer than a chunk: then the panel is for another model.
    """
    group_of = [_group_and_number(header)[0] for header in scored.headers]
    if len(scored.chunks.record) != len(group_of):
        raise ValueError("a sequence of the panel is longer than a chunk of the model")
    scores = scored.chunk_scores
    of_group = {g: np.array([each == g for each in group_of]) for g in GROUPS}
    groups = {g: _group_result(g, scores[of_group[g]]) for g in GROUPS if of_group[g].any()}
    labelled = (of_group["viral"] | of_group["host"]) & np.isfinite(scores)
    virus = of_group["viral"][labelled]
    area = auroc(virus, scores[labelled]) if 0 < virus.sum() < virus.size else None
    differences = dict(original)
    if known is not None:
        differences["known_score"] = _from_known(scored, known, precision)
    figures = {
        "groups": [asdict(group) for group in groups.values()],
        "auroc": area,
        "differences": {name: asdict(each) for name, each in differences.items()},
    }
    is_wrong = any(each.is_wrong for each in differences.values())
    return _verdict(groups["viral"], groups["host"], area, scored.failed, is_wrong=is_wrong), figures


def _group_and_number(header: str) -> tuple[Group, int]:
    """Parse `viral_007 ...`; the number counts within the group, from 1."""
    group, _, number = header.split()[0].partition("_")
    return msgspec.convert(group, Group), int(number)


def _group_result(group: Group, scores: npt.NDArray[np.float64]) -> GroupResult:
    scored = scores[np.isfinite(scores)]
    return GroupResult(group, scores.size, scored.size, int((scored >= 0.5).sum()))


def _from_known(scored: ScoredSequences, known: KnownScores, precision: Precision) -> Difference:
    """The largest difference of a frame from its known score; 1 if a frame or its score is missing."""
    expected = np.array([score for header in scored.headers for score in known[header.split()[0]]])
    found = scored.scores[:, 1]
    difference = largest(found - expected) if found.size == expected.size else 1.0
    return Difference(difference, ALLOWED_SCORE[precision])


def _verdict(
    viral: GroupResult, host: GroupResult, area: float | None, failed: int, *, is_wrong: bool
) -> Verdict:
    enough = viral.scored + host.scored >= FEWEST_SCORED * (viral.sequences + host.sequences)
    if area is None or not enough or failed > 0:
        return "no_answer"
    if is_wrong:
        return "differs"
    # Scores may tell the groups apart where calls, at 0.5, do not.
    misleads = viral.called_virus < viral.scored / 2 or host.called_virus > host.scored / 2
    return "weak" if area < LOWEST_AUROC or misleads else "works"
