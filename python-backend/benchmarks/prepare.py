"""Measure `prepare` on one core: megabytes of FASTA per second, and the memory it takes at the most.

Generates its inputs (seeded, so that everybody measures the same), runs the real process on each as the
engine does, and prints what was measured on what. `npm run bench:prepare -- --megabytes 50` for a shorter
run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BACKEND_SOURCE = Path(__file__).resolve().parents[1] / "src"
SEED = 20_240_601
LINE_LENGTH = 70
READ_LENGTH = 150
SINGLE_LINE_BASES = 300_000_000

BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = np.array([3, 2, 1, 0], np.uint8)
STOPS = {(3, 0, 0), (3, 0, 2), (3, 2, 0)}
SENSE_CODONS = np.array(
    [(a, b, c) for a in range(4) for b in range(4) for c in range(4) if (a, b, c) not in STOPS], np.uint8
)

Codes = npt.NDArray[np.uint8]


def genome(random: np.random.Generator, bases: int) -> Codes:
    """Genes of about 900 bases on both strands, 100 random bases between: as dense as in phages."""
    pieces = []
    total = 0
    while total < bases:
        gene = SENSE_CODONS[random.integers(0, len(SENSE_CODONS), int(random.gamma(2, 150)) + 30)].reshape(-1)
        pieces += [
            gene if random.random() < 0.5 else COMPLEMENT[gene][::-1],
            random.integers(0, 4, 100).astype(np.uint8),
        ]
        total += pieces[-2].size + pieces[-1].size
    return np.concatenate(pieces)[:bases]


def contigs(random: np.random.Generator, bases: int) -> Iterator[bytes]:
    """Lengths as an assembly has them: many short ones, a few long."""
    number = 0
    while bases > 0:
        length = 500 + int(random.lognormal(7.3, 1.1))
        text = BASES[genome(random, length)].tobytes()
        lines = (text[i : i + LINE_LENGTH] for i in range(0, length, LINE_LENGTH))
        yield b">k141_%d flag=1 multi=3.0000 len=%d\n" % (number, length) + b"\n".join(lines) + b"\n"
        bases -= length
        number += 1


def reads(random: np.random.Generator, bases: int) -> Iterator[bytes]:
    """Reads of equal length from anywhere in a genome, a record in two lines."""
    source = BASES[genome(random, 4_000_000)].tobytes()
    for number, begin in enumerate(
        random.integers(0, len(source) - READ_LENGTH, bases // READ_LENGTH).tolist()
    ):
        yield b">read.%d length=%d\n%s\n" % (number, READ_LENGTH, source[begin : begin + READ_LENGTH])


def single_line(random: np.random.Generator, bases: int) -> Iterator[bytes]:
    """One sequence in one line, as long as no line should be."""
    yield b">one line\n"
    while bases > 0:
        text = BASES[genome(random, min(bases, 3_000_000))].tobytes()
        yield text
        bases -= len(text)
    yield b"\n"


def generate(path: Path, pieces: Iterator[bytes]) -> None:
    with open(path, "wb") as file:
        for piece in pieces:
            file.write(piece)


def on_one_core(command: list[str], line: str | None) -> tuple[list[dict[str, Any]], float, float, float]:
    """Run a process on a single core: events, seconds by the clock, CPU seconds, peak bytes of memory."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(BACKEND_SOURCE)},
    )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
    assert process.stdin is not None
    assert process.stdout is not None
    if line is not None:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
    events = [json.loads(text) for text in process.stdout]
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdin.close()
    process.stdout.close()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed: {events[-1]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return events, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def python(module: str) -> list[str]:
    return [sys.executable, "-X", "utf8", "-u", "-m", module]


def measure(name: str, path: Path, work_dir: Path) -> None:
    work_dir.mkdir()
    job = {
        "type": "prepare",
        "inputs": [{"input": 0, "path": str(path), "sha256": None}],
        "work_dir": str(work_dir),
        "chunk_length": 500,
        "residues_per_part": 262_144,
        "go_on_from": None,
        "tail_parts": 32,
    }
    megabytes = path.stat().st_size / 1e6
    events, *figures = on_one_core(python("virnucpro_backend.prepare"), json.dumps(job))
    done = events[-1]
    counts = ", ".join(f"{done[what]:,} {what}" for what in ("records", "chunks", "frames", "parts"))
    print(f"  prepare  {name:15} {in_words(megabytes, *figures)}   {counts}")
    _, *figures = on_one_core([*python("virnucpro_backend.prepare.inspect"), str(path)], None)
    print(f"  inspect  {name:15} {in_words(megabytes, *figures)}")


def in_words(megabytes: float, seconds: float, cpu_seconds: float, memory: float) -> str:
    by_clock, by_cpu = megabytes / seconds, megabytes / cpu_seconds
    return (
        f"{megabytes:4.0f} MB: {by_clock:4.0f} MB/s, {by_cpu:4.0f} MB per CPU second,"
        f" {memory / 1e6:4.0f} MB of memory"
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=100, help="size of the contigs and of the reads")
    options = parser.parse_args()
    bases = options.megabytes * 1_000_000
    inputs: list[tuple[str, Callable[[np.random.Generator, int], Iterator[bytes]], int]] = [
        ("contigs", contigs, bases),
        (f"{READ_LENGTH}-base reads", reads, bases),
        ("one line", single_line, SINGLE_LINE_BASES),
    ]
    print(f"{processor()}, one core of {os.cpu_count()}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}")
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        print(f"load average {load:.1f} before the start; other work slows the clock more than CPU time")
    with tempfile.TemporaryDirectory(prefix="bench-prepare-") as folder:
        for number, (name, pieces, size) in enumerate(inputs):
            path = Path(folder) / f"{number}.fa"
            generate(path, pieces(np.random.default_rng(SEED), size))
            measure(name, path, Path(folder) / f"work{number}")
            path.unlink()


if __name__ == "__main__":
    main()
