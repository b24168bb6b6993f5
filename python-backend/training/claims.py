"""Makes the figures about the teaching model that docs/results.md and the guide state, through the whole
program: `npm run python -- training.claims DATA`.

All sequences come from records that are held out of all training.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from training.chunk_lengths import cut, program, rows_of
from training.evaluate import RESAMPLINGS, intervals
from training.fragments import TEST_FOLDS, Fragment, read_fragments, write_numbered

Row = dict[str, str]
FIRST_LETTERS = (500, 1000, 2000, 3000)
SHORT = (50, 60, 70, 80, 90, 100, 150, 200, 300, 500)
CALLS = ("virus", "others")
READ, INSERT = 150, 400
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def percent(right: list[bool], record: list[str]) -> list[float]:
    """The share of true values in percent, with a 95 % interval over resampled records."""
    _, place = np.unique(record, return_inverse=True)
    true, count = np.bincount(place, right), np.bincount(place)
    drawn = np.random.default_rng(1).integers(0, count.size, (RESAMPLINGS, count.size))
    spread = np.percentile(true[drawn].sum(axis=1) / count[drawn].sum(axis=1), (2.5, 97.5))
    return [round(100 * share, 1) for share in (float(np.mean(right)), *spread.tolist())]


def predict(fastas: list[Path], folder: Path) -> list[Row]:
    """Score files with the teaching model; return the export's rows in the order of the files."""
    program("predict", *fastas, "--model", "teaching", "-o", folder / "run", "--precision", "fp32")
    return rows_of(folder / "run")


def score_of_contigs(test: list[Fragment], folder: Path) -> dict[str, object]:
    """AUROC of the two ways to score a sequence of several chunks, with intervals over records."""
    made = cut(test, 3000)
    rows = predict([write_numbered(folder / "pieces.fa", (one.letters for one in made))], folder)
    scored = np.array([row["virus_score"] != "NA" for row in rows])
    columns = {
        name: np.array([float(row[name]) for row in rows if row["virus_score"] != "NA"])
        for name in ("virus_score", "viral_fraction")
    }
    virus, record = (np.array([getattr(one, fact) for one in made])[scored] for fact in ("virus", "record"))
    return {
        "pieces": len(made),
        "scored": int(scored.sum()),
        **intervals(columns, virus, record, "virus_score"),
    }


def evidence(test: list[Fragment], folder: Path) -> dict[str, object]:
    """Right calls by evidence, of the first letters of every fragment."""
    made = [replace(one, letters=one.letters[:length]) for one in test for length in FIRST_LETTERS]
    rows = predict([write_numbered(folder / "pieces.fa", (one.letters for one in made))], folder)
    found: dict[str, object] = {}
    for level in ("weak", "moderate", "strong"):
        of = [
            (row["prediction"], one) for one, row in zip(made, rows, strict=True) if row["evidence"] == level
        ]
        right = [(call == "virus") == one.virus for call, one in of if call in CALLS]
        found[level] = [len(right), *percent(right, [one.record for call, one in of if call in CALLS])]
    return found


def short_hosts(test: list[Fragment], folder: Path) -> dict[str, object]:
    """Of host pieces of each length, in percent: those scored, with a score of at least 0.9, called virus."""
    hosts = [one for one in test if not one.virus]
    made = {length: cut(hosts, length)[:: 500 // length] for length in SHORT}
    files = [
        write_numbered(folder / f"{n}.fa", (one.letters for one in pieces)) for n, pieces in made.items()
    ]
    rows = predict(files, folder)
    found: dict[str, object] = {}
    for length, pieces in made.items():
        of, rows = rows[: len(pieces)], rows[len(pieces) :]
        scores = np.array([float(row["virus_score"]) for row in of if row["virus_score"] != "NA"])
        shares = (scores.size, (scores >= 0.9).sum(), (scores >= 0.5).sum())
        found[str(length)] = [len(of), *(round(100 * float(share) / len(of), 1) for share in shares)]
    return found


def p_values(test: list[Fragment], folder: Path) -> dict[str, object]:
    """Of the pieces of one half of the records, calibrated by the other half: the share with p <= 0.05."""
    os.environ["VIRNUCPRO_DATA_DIR"] = str(folder / "data")
    made = {
        (virus, fold): [
            replace(one, letters=one.letters[:length])
            for one in test
            if (one.virus, one.fold) == (virus, fold)
            for length in FIRST_LETTERS
        ]
        for virus in (True, False)
        for fold in TEST_FOLDS
    }
    files = {
        key: write_numbered(folder / f"{key}.fa", (one.letters for one in of)) for key, of in made.items()
    }
    known, fresh = TEST_FOLDS
    program("calibrate", "--viral", files[True, known], "--other", files[False, known], "--model", "teaching")
    rows = predict([files[True, fresh], files[False, fresh]], folder)
    del os.environ["VIRNUCPRO_DATA_DIR"]
    of = list(zip(rows, made[True, fresh] + made[False, fresh], strict=True))
    found: dict[str, object] = {}
    for virus in (True, False):
        tested = [
            (float(row["p_value"]), one) for row, one in of if one.virus == virus and row["p_value"] != "NA"
        ]
        small = percent([p <= 0.05 for p, _ in tested], [one.record for _, one in tested])
        found["viral" if virus else "other"] = [len(made[virus, fresh]), len(tested), *small]
    return found


def read_pairs(test: list[Fragment], folder: Path) -> dict[str, object]:
    """Right calls of pairs of reads and of their single reads, of those with a call."""
    made = cut(test, INSERT)[::4]
    ends = (one.letters[-READ:].translate(COMPLEMENT)[::-1] for one in made)
    files = [
        write_numbered(folder / "s_R1.fa", (one.letters[:READ] for one in made)),
        write_numbered(folder / "s_R2.fa", ends),
    ]
    rows = predict(files, folder)
    found: dict[str, object] = {}
    for name, column, of in (
        ("pairs", "pair_prediction", list(zip(rows, made, strict=False))),
        ("reads", "prediction", list(zip(rows, made * 2, strict=True))),
    ):
        called = [(row[column], one) for row, one in of if row[column] in CALLS]
        right = [(call == "virus") == one.virus for call, one in called]
        found[name] = [len(of), len(right), *percent(right, [one.record for _, one in called])]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    arguments = parser.parse_args()
    test = [fragment for fragment in read_fragments(arguments.data) if fragment.fold in TEST_FOLDS]
    for claim in (score_of_contigs, evidence, short_hosts, p_values, read_pairs):
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps({claim.__name__: claim(test, Path(folder))}), flush=True)


if __name__ == "__main__":
    main()
