"""Compares rules that combine the scores of a sequence's chunks into one:
`node build/python.ts training.compare_rules DATA CONTIGS`.

It uses pieces of held-out fragments of several lengths, whose answer is known, and contigs, for which it
counts how often a rule contradicts the present ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.evaluate import intervals, score_letters
from training.fragments import TEST_FOLDS, read_fragments
from virnucpro_backend.controls.scoring import ScoredSequences, score_sequences

LENGTHS = (300, 501, 750, 1000, 1400, 2000, 3000)

FloatArray = npt.NDArray[np.float64]
Rule = Callable[[FloatArray, FloatArray], float]
"""Maps the scores of a sequence's scored chunks, and the new bases that each adds, to one score."""

RULES: dict[str, Rule] = {
    "share of viral chunks": lambda scores, _: float((scores >= 0.5).mean()),
    "mean": lambda scores, _: float(scores.mean()),
    "median": lambda scores, _: float(np.median(scores)),
    "mean weighted by new bases": lambda scores, new: float((scores * new).sum() / new.sum()),
    "share weighted by new bases": lambda scores, new: float(((scores >= 0.5) * new).sum() / new.sum()),
}


def by_rules(scored: ScoredSequences) -> tuple[dict[str, FloatArray], FloatArray, FloatArray]:
    """Score all sequences by every rule; return also the present `virus_score` and share of viral chunks."""
    n = len(scored.headers)
    out = {name: np.full(n, np.nan) for name in RULES}
    present, viral = np.full(n, np.nan), np.full(n, np.nan)
    bounds = np.searchsorted(scored.chunks.record, np.arange(n + 1))
    chunk_scores = scored.chunk_scores
    for row in range(n):
        span = slice(int(bounds[row]), int(bounds[row + 1]))
        known = np.isfinite(chunk_scores[span])
        if not known.any():
            continue
        scores = chunk_scores[span][known]
        begin = scored.chunks.start[span][known]
        end = begin + scored.chunks.length[span][known]
        new = (end - np.maximum(begin, np.concatenate(([0], end[:-1])))).astype(np.float64)
        for name, rule in RULES.items():
            out[name][row] = rule(scores, new)
        present[row] = float(scored.score2[span][known].mean())
        viral[row] = float((scores >= 0.5).mean())
    return out, present, viral


def virus_scores(scored: ScoredSequences) -> FloatArray:
    """The `virus_score` that a run gives every sequence, NaN without one."""
    return by_rules(scored)[0]["mean weighted by new bases"]


def contradictions(rules: dict[str, FloatArray], present: FloatArray, viral: FloatArray) -> dict[str, object]:
    """Count how often the present score and call are on different sides of 0.5, and how often each rule would
    change the call."""
    known = np.isfinite(present)
    call = viral[known] >= 0.5
    return {
        "sequences": int(present.size),
        "with a score": int(known.sum()),
        "present score against present call": int(((present[known] >= 0.5) != call).sum()),
        "called other with a present score of 0.9 or more": int(((present[known] >= 0.9) & ~call).sum()),
        "other call than at present": {n: int(((v[known] >= 0.5) != call).sum()) for n, v in rules.items()},
        "score of exactly 0.5": {n: int((v[known] == 0.5).sum()) for n, v in rules.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    parser.add_argument("contigs", type=Path, help="FASTA file")
    default = Path(__file__).resolve().parents[2] / "resources" / "teaching-model"
    parser.add_argument("--model", type=Path, default=default)
    arguments = parser.parse_args()
    test = [f for f in read_fragments(arguments.data) if f.fold in TEST_FOLDS]
    everything: list[tuple[dict[str, FloatArray], FloatArray, FloatArray]] = []
    labels = np.array([f.virus for f in test])
    records = np.array([f.record for f in test])
    for length in LENGTHS:
        random = np.random.default_rng(length)
        begins = random.integers(0, 3000 - length + 1, len(test)).tolist()
        cuts = [f.letters[begin : begin + length] for f, begin in zip(test, begins, strict=True)]
        everything.append(by_rules(score_letters(cuts, arguments.model)))
        _report(f"{length} bp", [everything[-1]], labels, records)
    _report("all lengths", everything, np.tile(labels, len(LENGTHS)), np.tile(records, len(LENGTHS)))
    contigs = by_rules(score_sequences(arguments.contigs, arguments.model, "cpu", "fp32"))
    print(json.dumps({"contigs": arguments.contigs.name, **contradictions(*contigs)}), flush=True)


def _report(
    name: str,
    sets: list[tuple[dict[str, FloatArray], FloatArray, FloatArray]],
    virus: npt.NDArray[np.bool_],
    record: npt.NDArray[np.str_],
) -> None:
    rules = {rule: np.concatenate([s[0][rule] for s in sets]) for rule in RULES}
    present, viral = (np.concatenate([s[i] for s in sets]) for i in (1, 2))
    known = np.isfinite(present)
    columns = {"present score": present[known], **{rule: v[known] for rule, v in rules.items()}}
    right = {n: round(float(((v >= 0.5) == virus[known]).mean()), 4) for n, v in columns.items()}
    right["present call"] = round(float(((viral[known] >= 0.5) == virus[known]).mean()), 4)
    report = {
        "pieces": name,
        "AUROC": intervals(columns, virus[known], record[known], "mean"),
        "right at 0.5": right,
        **contradictions(rules, present, viral),
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
