"""Runs both workflows with the virnucpro and snakemake in the PATH, in a new folder.

    python packaging/snakemake/check.py FOLDER SEQUENCES [SAMPLES]

It runs 40 samples of the FASTA file SEQUENCES, three at a time; one is empty, one is not a sequence file, and
one job is killed. The second call, after the file has been replaced, must do the rest, and the scores must
agree with those of the run that was computed in shares.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from math import inf
from pathlib import Path

HERE = Path(__file__).parent
TOLERANCE = 0.05
"""What BF16 and FP32 may differ by (docs/results.md): each run chooses the precision that was faster."""
EMPTY, BROKEN, KILLED = "s07", "s13", "s21"


def samples_of(sequences: Path, folder: Path, count: int) -> dict[str, str]:
    """Write the samples, and return their texts."""
    records = [">" + text for text in sequences.read_text().split(">")[1:]]
    folder.mkdir(parents=True)
    texts = {f"s{number:02}": records[number % len(records)] for number in range(1, count + 1)}
    texts[KILLED] = "".join(records)
    texts[EMPTY] = ""
    for name, text in texts.items():
        (folder / f"{name}.fa").write_text(text)
    return texts


def process_of(words: list[str]) -> int | None:
    """Find our process whose command line has all these words."""
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if all(word in command for word in words) and any("virnucpro.mjs" in word for word in command):
            return int(entry.name)
    return None


def snakemake(folder: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """Start one of the two workflows."""
    command = ["snakemake", "--snakefile", str(HERE / name / "Snakefile"), "--keep-going", "--quiet", "all"]
    log = (folder / f"{name}.log").open("ab")
    return subprocess.Popen([*command, *words], cwd=folder, stdout=log, stderr=log)


def killed_while(snake: subprocess.Popen[bytes], words: list[str], sign: Path) -> bool:
    """Kill the process as soon as the file shows that it computes."""
    while snake.poll() is None:
        pid = process_of(words)
        if pid is not None and sign.exists():
            time.sleep(1)
            os.kill(pid, signal.SIGKILL)
            return True
        time.sleep(0.2)
    return False


def scores(table: Path) -> dict[str, float]:
    """Read the scores of a table's sequences; those without one are left out."""
    with table.open() as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["seq_name"]: float(row["virus_score"]) for row in rows if row["virus_score"] != "NA"}


def check(claim: bool, words: str) -> None:
    """Print a claim; exit if it is false."""
    print("ok  " if claim else "FAIL", words, flush=True)
    if not claim:
        sys.exit(1)


def main() -> None:
    """Run both workflows twice."""
    folder, sequences = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    texts = samples_of(sequences, folder / "samples", count)
    (folder / "samples" / f"{BROKEN}.fa").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    names = sorted(texts)

    shared = ["--jobs", "3", "--config", "model=teaching", "processors=1", "devices=cpu:1", "shares=6"]
    shared.append("inputs=" + " ".join(f"samples/{name}.fa" for name in names if name != BROKEN))
    first = snakemake(folder, "shares", *shared)
    check(killed_while(first, ["--share", "4/6"], folder / "run/shares/4-of-6/run.db"), "a share was killed")
    check(first.wait() == 1, "the first call says that something failed")
    check(not (folder / "run/sequences.tsv").exists(), "and wrote no table")
    check(snakemake(folder, "shares", *shared).wait() == 0, "the second call does the rest")

    flags = ["--cores", "3", "--config", "samples=samples", "model=teaching", "devices=cpu:1"]
    first = snakemake(folder, "samples", *flags)
    results = folder / "results"
    was_killed = killed_while(first, [f"results/{KILLED}"], results / KILLED / "run.db")
    check(was_killed, "the run of a sample was killed")
    check(first.wait() == 1, "the first call says that something failed")
    lacking = [name for name in names if not (results / name / "sequences.tsv").exists()]
    check(lacking == [BROKEN, KILLED], f"all but two samples are done: {lacking}")
    check(scores(results / EMPTY / "sequences.tsv") == {}, "the empty sample has an empty table")
    (folder / "samples" / f"{BROKEN}.fa").write_text(texts[BROKEN])
    check(snakemake(folder, "samples", *flags).wait() == 0, "the second call does the rest")

    together = scores(folder / "run/sequences.tsv")
    for name in names:
        own = scores(results / name / "sequences.tsv")
        same = all(abs(together.get(record, inf) - score) <= TOLERANCE for record, score in own.items())
        check(same, f"{name} has the scores of the shared run")


if __name__ == "__main__":
    main()
