"""Measures what runs with one and with two chunk lengths say of held-out viral and host pieces, through the
whole program: `npm run python -- training.chunk_lengths DATA`.

Fragments of the records that are held out of all training are cut into pieces of one length. Shares are of
all pieces, those without a score among them; for the AUROC these have 0.5.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.evaluate import FloatArray, intervals, pieces
from training.fragments import TEST_FOLDS, Fragment, read_fragments, write_numbered

BoolArray = npt.NDArray[np.bool_]
ROOT = Path(__file__).resolve().parents[2]
LENGTHS = (150, 300, 500, 1000, 3000)
CHUNK_LENGTHS = ("500", "300", "500+300")


@dataclass(frozen=True)
class Run:
    """The rows of a run's export in the order of the pieces, and the residues that it computed."""

    rows: list[dict[str, str]]
    residues: int

    def scores(self) -> FloatArray:
        """Virus scores, 0.5 for a piece without one."""
        return np.array(
            [0.5 if row["virus_score"] == "NA" else float(row["virus_score"]) for row in self.rows]
        )


def cut(fragments: list[Fragment], length: int) -> list[Fragment]:
    """Cut fragments into consecutive pieces of one length; a piece keeps the place of its fragment."""
    letters, of = pieces(fragments, length)
    return [replace(fragments[number], letters=each) for each, number in zip(letters, of, strict=True)]


def predict(made: list[Fragment], chunk_length: str, model: str, folder: Path) -> Run:
    """Run the program on pieces."""
    fasta = write_numbered(folder / "pieces.fa", (one.letters for one in made))
    run = folder / f"run {chunk_length}"
    program(
        "predict", fasta, "--model", model, "--chunk-length", chunk_length, "-o", run, "--precision", "fp32"
    )
    devices = json.loads((run / "run.json").read_text(encoding="utf-8"))["devices"]
    return Run(rows_of(run), sum(device["residues"] for device in devices))


def rows_of(run: Path) -> list[dict[str, str]]:
    """All rows of a run's export, in the order of its inputs."""
    table = run.with_suffix(".tsv")
    program("export", run, "--format", "tsv", "-o", table)
    with table.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return sorted(csv.DictReader(lines, delimiter="\t"), key=lambda row: int(row["no"]))


def program(*words: object) -> None:
    """Run the program in the folder of the repository."""
    command = ["npm", "run", "--silent", "virnucpro", "--", *map(str, words), "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True)


def report(made: list[Fragment], runs: dict[str, Run]) -> Iterator[dict[str, object]]:
    """Yield what each run says of the pieces."""
    virus = np.array([one.virus for one in made])
    record = np.array([one.record for one in made])
    ranked = intervals({name: run.scores() for name, run in runs.items()}, virus, record, CHUNK_LENGTHS[0])
    for name, run in runs.items():
        call = np.array([row["prediction"] for row in run.rows])
        evidence = np.array([row["evidence"] for row in run.rows])
        scored = call != "not_scored"
        judged = np.array([row.get("judged_by", name) for row in run.rows])
        judged[~scored] = "NA"

        def shares(chosen: BoolArray) -> list[float]:
            """Of the viral and of the host pieces."""
            return [round(float(chosen[virus].mean()), 3), round(float(chosen[~virus].mean()), 3)]

        called = call == "virus"
        judges, levels = sorted(set(judged) - {"NA"}), ("weak", "moderate", "strong")
        yield {
            "chunk length": name,
            "without a score": shares(~scored),
            "AUROC": ranked[name],
            "called virus": shares(called),
            **{f"called virus, {level}": shares(called & (evidence == level)) for level in levels},
            **{f"called virus, judged by {by}": shares(called & (judged == by)) for by in judges},
            **{f"judged by {by}": shares(judged == by) for by in judges},
            "residues": run.residues,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    parser.add_argument("--model", default="teaching")
    arguments = parser.parse_args()
    test = [fragment for fragment in read_fragments(arguments.data) if fragment.fold in TEST_FOLDS]
    by_length = {str(length): cut(test, length) for length in LENGTHS}
    by_length["mixture"] = [one for made in by_length.values() for one in made[:: len(by_length)]]
    for name, made in by_length.items():
        print(f"{name} bp: {len(made)} pieces, {sum(one.virus for one in made)} of viruses", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            runs = {each: predict(made, each, arguments.model, Path(folder)) for each in CHUNK_LENGTHS}
        for line in report(made, runs):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
