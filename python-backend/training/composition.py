"""Tests calibration by a sample's composition: `node build/python.ts training.composition DATA`.

Records held out of the teaching model's training are repeatedly divided in two: the pieces of one half
calibrate scores to probabilities, those of the other half give samples with a known share of viruses. The
program prints the estimated and true values for each sample (the share of viruses, and the share of false
calls), and how often the p-values of both kinds of pieces against the first half are below some levels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.compare_rules import virus_scores
from training.evaluate import pieces, score_letters
from training.fragments import TEST_FOLDS, read_fragments

LENGTHS = (300, 500, 1000, 1500, 3000)
CLASSES = (500, 1000, 2500)
"""Bounds of the length classes, which are calibrated separately."""
SHARES = (0.01, 0.1, 0.5, 0.9)
SAMPLE = 2000
SPLITS = 200
RESAMPLINGS = 40
"""How often labelled records and a sample's sequences are resampled for an interval, in every fifth split."""
SHOWN = ("estimated share", "called virus", "true FDR", "estimated FDR")
LEVELS = (0.01, 0.05, 0.1)
ALLOWED = 0.1
"""The largest useful error of an estimated FDR: users act differently on 10 % and on 20 % false calls."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Calibration = Callable[[FloatArray], FloatArray]
"""Maps scores to log P(score | virus) - log P(score | other)."""


@dataclass(frozen=True)
class Pieces:
    """Scored pieces: score, length class, truth, and the number of the record."""

    score: FloatArray
    length_class: npt.NDArray[np.int64]
    virus: BoolArray
    record: npt.NDArray[np.int64]

    def chosen(self, rows: npt.NDArray[np.int64]) -> Pieces:
        return Pieces(self.score[rows], self.length_class[rows], self.virus[rows], self.record[rows])


def logit(p: FloatArray) -> FloatArray:
    kept = np.clip(p, 1e-6, 1 - 1e-6)
    out: FloatArray = np.log(kept / (1 - kept))
    return out


def platt(score: FloatArray, virus: BoolArray) -> Calibration:
    """Fit a logistic curve to the score's logit, with Platt's targets (Platt 1999, "Probabilistic outputs for
    support vector machines"), and subtract the log odds of the labelled pieces."""
    n, m = int(virus.sum()), int((~virus).sum())
    target = np.where(virus, (n + 1) / (n + 2), 1 / (m + 2))
    x = np.stack([logit(score), np.ones(score.size)], axis=1)
    weights = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2)
        step = np.linalg.solve(hessian, x.T @ (target - p))
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    prior = np.log((n + 1) / (m + 1))
    return lambda s: logit(s) * weights[0] + weights[1] - prior


def isotonic(score: FloatArray, virus: BoolArray) -> Calibration:
    """Fit a monotonic curve to the labels by pool adjacent violators (Zadrozny & Elkan 2002,
    doi:10.1145/775047.775151); one more piece in each pool, divided as all pieces are, keeps the odds
    finite."""
    order = np.argsort(score, kind="stable")
    pools: list[list[float]] = []
    for s, v in zip(score[order].tolist(), virus[order].tolist(), strict=True):
        pools.append([s, float(v), 1.0])
        while len(pools) > 1 and pools[-2][1] * pools[-1][2] >= pools[-1][1] * pools[-2][2]:
            last = pools.pop()
            pools[-1][1] += last[1]
            pools[-1][2] += last[2]
    first = np.array([pool[0] for pool in pools])
    hits, count = (np.array([pool[i] for pool in pools]) for i in (1, 2))
    n, m = float(virus.sum()), float((~virus).sum())
    odds = np.log((hits + n / (n + m)) / (count - hits + m / (n + m))) - np.log(n / m)
    return lambda s: odds[np.maximum(np.searchsorted(first, s, side="right") - 1, 0)]


METHODS = {"Platt": platt, "isotonic": isotonic}


def calibrated(
    method: Callable[[FloatArray, BoolArray], Calibration], labelled: Pieces, sample: Pieces
) -> FloatArray:
    """Compute log likelihood ratios of the sample's pieces from the labelled pieces of their length class."""
    out = np.zeros(sample.score.size)
    for c in range(len(CLASSES) + 1):
        of, to = labelled.length_class == c, sample.length_class == c
        out[to] = method(labelled.score[of], labelled.virus[of])(sample.score[to])
    return out


def prevalence(ratio: FloatArray) -> float:
    """Estimate the share of viruses at which the expectation maximisation of Saerens et al. (2002,
    doi:10.1162/089976602753284446) converges: the maximum of a concave likelihood, found by bisecting its
    slope."""
    excess = np.expm1(np.clip(ratio, -30, 30))
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if (excess / (1 + middle * excess)).sum() > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def probability(ratio: FloatArray, share: float) -> FloatArray:
    """P(virus | score) of pieces with these likelihood ratios if `share` of the sample are viruses."""
    out: FloatArray = 1 / (1 + np.exp(-(ratio + logit(np.array(share)))))
    return out


def p_values(labelled: Pieces, asked: Pieces) -> FloatArray:
    """Conformal p-values against the non-viral labelled pieces of the same length class (Vovk,
    Gammerman & Shafer 2005, "Algorithmic Learning in a Random World")."""
    out = np.ones(asked.score.size)
    for c in range(len(CLASSES) + 1):
        trusted = np.sort(labelled.score[(labelled.length_class == c) & ~labelled.virus])
        of = asked.length_class == c
        at_least = trusted.size - np.searchsorted(trusted, asked.score[of])
        out[of] = (1 + at_least) / (trusted.size + 1)
    return out


def false_calls(p: FloatArray, called: BoolArray) -> float:
    """The expected share of false calls among the called."""
    return float((1 - p[called]).mean()) if called.any() else float("nan")


def draw(of: Pieces, share: float, random: np.random.Generator) -> Pieces:
    n = round(SAMPLE * share)
    rows = [
        random.choice(np.flatnonzero(of.virus == virus), count)
        for virus, count in ((True, n), (False, SAMPLE - n))
    ]
    return of.chosen(np.concatenate(rows))


def of_records(of: Pieces, records: npt.NDArray[np.int64]) -> Pieces:
    """Return the pieces of these records, twice if a record is listed twice."""
    order = np.argsort(of.record, kind="stable")
    begins = np.searchsorted(of.record[order], records)
    ends = np.searchsorted(of.record[order], records, side="right")
    spans = [order[b:e] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
    return of.chosen(np.concatenate(spans))


def resampled(of: Pieces, random: np.random.Generator) -> Pieces:
    """Draw as many records of each kind with replacement."""
    kinds = [np.unique(of.record[of.virus == virus]) for virus in (True, False)]
    return of_records(of, np.concatenate([random.choice(kind, kind.size) for kind in kinds]))


def held_out(data: Path, model: Path) -> Pieces:
    """Score all pieces of the held-out fragments; leave out pieces without a score."""
    test = [f for f in read_fragments(data) if f.fold in TEST_FOLDS]
    names = {name: number for number, name in enumerate(sorted({f.record for f in test}))}
    columns = []
    for length in LENGTHS:
        cuts, of = pieces(test, length)
        score = virus_scores(score_letters(cuts, model))
        known = np.flatnonzero(np.isfinite(score))
        columns.append(
            (
                score[known],
                np.full(known.size, int(np.searchsorted(CLASSES, length, side="right"))),
                np.array([test[of[i]].virus for i in known]),
                np.array([names[test[of[i]].record] for i in known]),
            )
        )
    return Pieces(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    default = Path(__file__).resolve().parents[2] / "resources" / "teaching-model"
    parser.add_argument("--model", type=Path, default=default)
    arguments = parser.parse_args()
    everything = held_out(arguments.data, arguments.model)
    counts = {
        kind: {
            "records": int(np.unique(everything.record[everything.virus == virus]).size),
            "pieces": np.bincount(everything.length_class[everything.virus == virus]).tolist(),
        }
        for kind, virus in (("viral", True), ("other", False))
    }
    print(json.dumps(counts), flush=True)
    found: dict[tuple[str, float], list[list[float]]] = {(m, s): [] for m in METHODS for s in SHARES}
    held: dict[tuple[str, float], list[list[bool]]] = {(m, s): [] for m in METHODS for s in SHARES}
    below: list[list[list[float]]] = []
    random = np.random.default_rng(1)
    for split in range(SPLITS):
        halves: list[list[npt.NDArray[np.int64]]] = [[], []]
        for virus in (True, False):
            records = random.permutation(np.unique(everything.record[everything.virus == virus]))
            halves[0].append(records[: records.size // 2])
            halves[1].append(records[records.size // 2 :])
        labelled, rest = (of_records(everything, np.concatenate(half)) for half in halves)
        p = p_values(labelled, rest)
        below.append(
            [[float((p[rest.virus == kind] <= at).mean()) for at in LEVELS] for kind in (False, True)]
        )
        samples = {share: draw(rest, share, random) for share in SHARES}
        again = [resampled(labelled, random) for _ in range(RESAMPLINGS)] if split % 5 == 0 else []
        for (name, method), (share, sample) in ((m, s) for m in METHODS.items() for s in samples.items()):
            called = sample.score >= 0.5
            false = float((~sample.virus[called]).mean())
            ratio = calibrated(method, labelled, sample)
            estimate = prevalence(ratio)
            expected = false_calls(probability(ratio, estimate), called)
            found[name, share].append([estimate, float(called.mean()), false, expected])
            drawn = []
            for one in again:
                rows = random.integers(0, SAMPLE, SAMPLE)
                its = calibrated(method, one, sample.chosen(rows))
                its_share = prevalence(its)
                drawn.append([its_share, false_calls(probability(its, its_share), called[rows])])
            if drawn:
                low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
                held[name, share].append([bool(low[0] <= share <= high[0]), bool(low[1] <= false <= high[1])])
    for kind, shares in zip(("other", "viral"), np.array(below).transpose(1, 2, 0), strict=True):
        spreads = [np.percentile(s, (2.5, 50, 97.5)).round(4).tolist() for s in shares]
        print(json.dumps({"p-values below, of": kind, **dict(zip(map(str, LEVELS), spreads, strict=True))}))
    for (name, share), estimates in found.items():
        table = np.array(estimates)
        spread = np.percentile(table, (2.5, 50, 97.5), axis=0).round(3).T.tolist()
        within = float((np.abs(table[:, 3] - table[:, 2]) <= ALLOWED).mean())
        print(
            json.dumps(
                {
                    "method": name,
                    "true share": share,
                    **dict(zip(SHOWN, spread, strict=True)),
                    f"FDR within {ALLOWED}": round(within, 3),
                    "bias of the FDR": round(float((table[:, 3] - table[:, 2]).mean()), 3),
                    "interval held share, FDR": np.mean(held[name, share], axis=0).round(3).tolist(),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
