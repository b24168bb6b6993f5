"""Evaluates a model on held-out viral and host sequences: `npm run python -- training.evaluate DATA`.

Fragments of the records that are held out of all training are cut to 150, 500 and 3,000 bp and scored by the
backend's code and, for comparison, by logistic regression on k-mers. Intervals come from resampled records.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.fragments import TEST_FOLDS, Fragment, read_fragments, write_numbered
from training.kmers import KmerRegression, kmer_features
from virnucpro_backend.check.scoring import ScoredSequences, auroc, score_sequences

LENGTHS = (150, 500, 3000)
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
CHOICE_FOLDS = (2, 3)
"""The folds used to choose the strength of the regression's penalty."""
MOST_PIECES = 12_000
RESAMPLINGS = 1000

FloatArray = npt.NDArray[np.float64]


def pieces(fragments: list[Fragment], length: int) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Cut fragments into consecutive pieces; return these and the fragment of each."""
    cuts = [
        (fragment.letters[begin : begin + length], number)
        for number, fragment in enumerate(fragments)
        for begin in range(0, len(fragment.letters) - length + 1, length)
    ]
    return [cut for cut, _ in cuts], np.array([number for _, number in cuts])


def score_letters(sequences: list[str], model: Path) -> ScoredSequences:
    """Score sequences in FP32 on this processor."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_numbered(Path(folder) / "sequences.fa", sequences)
        return score_sequences([path], model, "cpu", "fp32")


def sequence_means(scored: ScoredSequences) -> FloatArray:
    """The mean chunk score of every sequence, NaN without any."""
    values, record = scored.chunk_scores, scored.chunks.record
    known, n = np.isfinite(values), len(scored.headers)
    count = np.bincount(record[known], minlength=n)
    total = np.bincount(record[known], values[known], minlength=n)
    means: FloatArray = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return means


def kmer_scores(fragments: list[Fragment], length: int, test: list[str]) -> tuple[FloatArray, float]:
    """Return logits of test pieces from regression on the other records' pieces, and its strength."""
    learning = [f for f in fragments if f.fold not in TEST_FOLDS]
    cuts, of = pieces(learning, length)
    chosen = np.random.default_rng(0).permutation(len(cuts))[:MOST_PIECES]
    features = kmer_features([cuts[i] for i in chosen])
    virus = np.array([learning[of[i]].virus for i in chosen])
    aside = np.array([learning[of[i]].fold in CHOICE_FOLDS for i in chosen])
    trials = {
        s: auroc(virus[aside], KmerRegression(s).fit(features[~aside], virus[~aside]).scores(features[aside]))
        for s in STRENGTHS
    }
    best = max(trials, key=lambda strength: trials[strength])
    return KmerRegression(best).fit(features, virus).scores(kmer_features(test)), best


def intervals(
    columns: dict[str, FloatArray], virus: npt.NDArray[np.bool_], record: npt.NDArray[np.str_], first: str
) -> dict[str, list[float]]:
    """AUROC of every column, and its difference from that of `first`, with 95 % intervals over records."""
    names, place = np.unique(record, return_inverse=True)
    members = [np.flatnonzero(place == i) for i in range(len(names))]
    random = np.random.default_rng(1)
    drawn = []
    for _ in range(RESAMPLINGS):
        rows = np.concatenate([members[i] for i in random.integers(0, len(names), len(names))])
        drawn.append({name: auroc(virus[rows], values[rows]) for name, values in columns.items()})
    out = {}
    for name, values in columns.items():
        spread = np.percentile([d[name] for d in drawn], (2.5, 97.5))
        out[name] = [auroc(virus, values), *spread.tolist()]
        if name != first:
            gain = np.percentile([d[name] - d[first] for d in drawn], (2.5, 97.5))
            out[f"{name} - {first}"] = [out[name][0] - auroc(virus, columns[first]), *gain.tolist()]
    return {name: [round(v, 4) for v in values] for name, values in out.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    default = Path(__file__).resolve().parents[2] / "resources" / "teaching-model"
    parser.add_argument("--model", type=Path, default=default)
    arguments = parser.parse_args()
    fragments = read_fragments(arguments.data)
    test = [f for f in fragments if f.fold in TEST_FOLDS]
    for length in LENGTHS:
        cuts, of = pieces(test, length)
        virus = np.array([test[i].virus for i in of])
        record = np.array([test[i].record for i in of])
        model = sequence_means(score_letters(cuts, arguments.model))
        kmers, strength = kmer_scores(fragments, length, cuts)
        scored = np.isfinite(model)
        report = {
            "length": length,
            "sequences": len(cuts),
            "records": len(set(record)),
            "scored": round(float(scored.mean()), 4),
            "k-mer strength": strength,
            "of scored": intervals(
                {"k-mers": kmers[scored], "model": model[scored]}, virus[scored], record[scored], "k-mers"
            ),
            "of all": intervals(
                {"k-mers": kmers, "model": np.where(scored, model, 0.5)}, virus, record, "k-mers"
            ),
        }
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
