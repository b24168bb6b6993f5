"""Makes the inputs of this benchmark once, and keeps them with their counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.predict.python_module import python_json

MADE_AS = {"reads": "reads", "contigs": "contigs", "copies": "reads"}
"""The kind of input for `benchmarks.inputs`, by workload."""

SHARE_OF_COPIES = 0.3
"""The share of reads in the workload `copies` that repeat an earlier one, like PCR duplicates."""


@dataclass(frozen=True)
class BenchInput:
    """A FASTA file with the counts of `benchmarks.inputs`."""

    path: Path
    counts: dict[str, Any]


def bench_input(folder: Path, workload: str, count: int, seed: int, sources: Sequence[Path]) -> BenchInput:
    """Return the input of a workload, from an earlier call if there was one. Raises CalledProcessError."""
    path = folder / f"{workload}-{count}-{seed}.fa"
    beside = path.with_suffix(".json")
    if not beside.exists():
        copies = ("--copies", SHARE_OF_COPIES) if workload == "copies" else ()
        counts = python_json(
            "benchmarks.inputs", MADE_AS[workload], "--from", *sources, "--count", count,
            "--seed", seed, *copies, "--json", "-o", path,
        )  # fmt: skip
        beside.write_text(json.dumps(counts) + "\n", encoding="utf-8")
    return BenchInput(path, json.loads(beside.read_text(encoding="utf-8")))
