"""The sequence lengths that are timed, in tokens including special tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Lengths = npt.NDArray[np.int64]

ESM2_SPECIAL_TOKENS = 2
"""`<cls>` and `<eos>` are computed but not counted as residues."""

FIRST_LETTER, LETTERS = 5, 19
"""Tokens 5 to 23 are ordinary tokens in both vocabularies."""

SHARE_OF_COPIES = 0.3
"""The share of proteins in the workload `copies` that equal an earlier one."""

RESIDUES = 262_144
"""About as many as one part has; every row repeats its workload until its time is up."""


def orf500() -> Lengths:
    """Lengths of frames of 500-bp chunks: 166 residues each."""
    return np.full(RESIDUES // 166, 166) + ESM2_SPECIAL_TOKENS


def short() -> Lengths:
    """Lengths of frames of reads: uniformly 30 to 70 residues."""
    residues = np.random.default_rng(1).integers(30, 71, size=RESIDUES // 50)
    return residues + ESM2_SPECIAL_TOKENS


def originals(count: int) -> npt.NDArray[np.int64]:
    """Number the protein that each equals, int64 [count]: itself, or an earlier one for SHARE_OF_COPIES."""
    random = np.random.default_rng(3)
    number = np.arange(count)
    copied = random.permutation(count)[: round(SHARE_OF_COPIES * count)]
    number[copied[copied > 0]] = random.integers(0, copied[copied > 0])
    while np.any(number[number] != number):
        number = number[number]
    return number


def letters_of(residues: npt.NDArray[np.int64]) -> list[str]:
    """Make proteins of random letters with these numbers of residues."""
    random = np.random.default_rng(4)
    letters = random.choice(np.frombuffer(b"LAGVSERTIDPKQNFYMHWC", np.uint8), int(residues.sum()))
    text, ends = letters.tobytes().decode("ascii"), np.cumsum(residues).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def dna500() -> Lengths:
    """Lengths of 500-bp chunks in DNABERT-S tokens: byte-pair encoding gives about 101 ± 2.3."""
    tokens = np.random.default_rng(2).normal(101, 2.3, size=4096)
    return np.rint(tokens).astype(np.int64).clip(90, 112)


@dataclass(frozen=True)
class Workload:
    """Lengths in tokens, and how much a sequence counts in the rate."""

    name: str
    lengths: Callable[[], Lengths]
    unit: str
    counted: Callable[[Lengths], int]


def _residues(lengths: Lengths) -> int:
    return int((lengths - ESM2_SPECIAL_TOKENS).sum())


ORF500 = Workload("orf500", orf500, "residues/s", _residues)
SHORT = Workload("short", short, "residues/s", _residues)
DNA500 = Workload("dna500", dna500, "frames/s", len)
