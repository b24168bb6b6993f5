"""Makes parts for tests: seeded random frames, in prepare's format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from virnucpro_backend.inference.encoding import PartListener
from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScorer, PartScores
from virnucpro_backend.safetensors_file import write_safetensors

DEMO_MODEL = Path(__file__).parents[1] / "data" / "demo-model"
AMINO_ACIDS = np.frombuffer(b"LAGVSERTIDPKQNFYMHWC", dtype=np.uint8)
BASES = np.frombuffer(b"ACGT", dtype=np.uint8)


@dataclass(frozen=True)
class PartFile:
    """A part on disk."""

    path: Path
    sha256: str
    frames: PartFrames


def random_frames(count: int, seed: int, shortest: int = 1, longest: int = 166) -> PartFrames:
    """Make frames of random length in residues, with three bases of DNA per residue and one more."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, count)
    residue_offsets = np.concatenate(([0], np.cumsum(lengths)))
    nucleotide_offsets = np.concatenate(([0], np.cumsum(3 * lengths + 1)))
    return PartFrames(
        rng.choice(AMINO_ACIDS, residue_offsets[-1]),
        residue_offsets,
        rng.choice(BASES, nucleotide_offsets[-1]),
        nucleotide_offsets,
    )


def write_part_file(path: Path, frames: PartFrames) -> PartFile:
    """Write frames in the format of work/parts/NNNNNN.safetensors."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = write_safetensors(
        path,
        {
            "row": np.arange(frames.count, dtype=np.uint32),
            "chunk": np.zeros(frames.count, dtype=np.uint32),
            "frame": np.zeros(frames.count, dtype=np.uint8),
            "residues": frames.residues,
            "residue_offsets": frames.residue_offsets.astype(np.uint32),
            "nucleotides": frames.nucleotides,
            "nucleotide_offsets": frames.nucleotide_offsets.astype(np.uint32),
        },
    )
    return PartFile(path, written.sha256, frames)


class Heard(PartListener):
    """Records what a part's listener is told."""

    def __init__(self) -> None:
        self.frames = self.residues = 0
        self.steps: list[float] = []
        self.cuts: list[tuple[int, int]] = []

    def batch_done(self, frames: int, residues: int) -> None:
        self.frames += frames
        self.residues += residues

    def step_done(self, residues: float) -> None:
        self.steps.append(residues)

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        self.cuts.append((tokens_before, tokens_after))


def score(scorer: PartScorer, frames: PartFrames) -> tuple[PartScores, Heard]:
    """Score a part without recomputation; return what its listener was told too."""
    heard = Heard()
    return scorer.collect(scorer.launch(scorer.prepare(frames), heard)), heard
