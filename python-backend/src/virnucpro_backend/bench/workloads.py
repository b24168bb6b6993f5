"""The sequence lengths that are timed, in tokens, special tokens included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Lengths = npt.NDArray[np.int64]

ESM2_SPECIAL_TOKENS = 2
"""`<cls>` and `<eos>`, which are computed but not counted as residues."""

RESIDUES = 262_144
"""About one shard's worth; every row goes round its workload until its time is up."""


def orf500() -> Lengths:
    """Frames of 500-bp chunks: 166 residues each."""
    return np.full(RESIDUES // 166, 166) + ESM2_SPECIAL_TOKENS


def short() -> Lengths:
    """Frames of reads: 30 to 70 residues, evenly spread."""
    residues = np.random.default_rng(1).integers(30, 71, size=RESIDUES // 50)
    return residues + ESM2_SPECIAL_TOKENS


def dna500() -> Lengths:
    """500-bp chunks as DNABERT-S tokens: byte-pair encoding makes about 101 of them, give or take 2.3."""
    tokens = np.random.default_rng(2).normal(101, 2.3, size=4096)
    return np.rint(tokens).astype(np.int64).clip(90, 112)


@dataclass(frozen=True)
class Workload:
    """Lengths in tokens, and what a sequence counts for in the rate."""

    name: str
    lengths: Callable[[], Lengths]
    unit: str
    counted: Callable[[Lengths], int]


def _residues(lengths: Lengths) -> int:
    return int((lengths - ESM2_SPECIAL_TOKENS).sum())


ORF500 = Workload("orf500", orf500, "residues/s", _residues)
SHORT = Workload("short", short, "residues/s", _residues)
DNA500 = Workload("dna500", dna500, "frames/s", len)
