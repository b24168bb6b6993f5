"""Reads the frames of a part, which prepare wrote to work/parts/NNNNNN.safetensors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.second_look import FIRST_OF_SECOND_LOOK
from virnucpro_backend.safetensors_file import read_ordinary

Letters = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PartFrames:
    """f frames in the part's order (row, chunk, frame).

    residues: amino-acid letters uint8 [sum], frame i at residue_offsets[i] : residue_offsets[i + 1];
    nucleotides: DNA letters, in the same form. Offsets are int64 [f + 1] and begin at 0.
    of_second_look: whether they are frames of shorter chunks; a part has one kind.
    """

    residues: Letters
    residue_offsets: Offsets
    nucleotides: Letters
    nucleotide_offsets: Offsets
    of_second_look: bool = False

    @property
    def count(self) -> int:
        """Number of frames, f."""
        return len(self.residue_offsets) - 1

    @property
    def residue_counts(self) -> Offsets:
        """Residues of each frame, int64 [f]."""
        return np.diff(self.residue_offsets)

    def subset(self, frames: npt.NDArray[np.integer]) -> PartFrames:
        """Select the frames with these numbers, in this order."""
        residues, residue_offsets = gathered(self.residues, self.residue_offsets, frames)
        nucleotides, nucleotide_offsets = gathered(self.nucleotides, self.nucleotide_offsets, frames)
        return PartFrames(residues, residue_offsets, nucleotides, nucleotide_offsets, self.of_second_look)


def read_part(path: Path, sha256: str, frame_begin: int, frame_end: int) -> PartFrames:
    """Read the frames [frame_begin, frame_end) of a part file whose bytes must have this SHA-256.

    Raises PartFailedError `part_unreadable` when the file is missing, changed, damaged or shorter.
    """
    try:
        content = read_ordinary(path)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise _unreadable(path, "its content is not what was written")
    try:
        arrays = safetensors.numpy.load(content)
        residue_offsets = arrays["residue_offsets"].astype(np.int64)
        nucleotide_offsets = arrays["nucleotide_offsets"].astype(np.int64)
        residues, nucleotides = arrays["residues"], arrays["nucleotides"]
        of_second_look = bool(np.any(arrays["frame"] >= FIRST_OF_SECOND_LOOK))
    except (SafetensorError, KeyError, ValueError) as error:
        raise _unreadable(path, f"it is not a part ({error!r})") from error
    if not (_fits(residues, residue_offsets) and _fits(nucleotides, nucleotide_offsets)):
        raise _unreadable(path, "its offsets do not fit its letters")
    n_frames = len(residue_offsets) - 1
    if len(nucleotide_offsets) - 1 != n_frames or not 0 <= frame_begin <= frame_end <= n_frames:
        raise _unreadable(path, f"it has {n_frames} frames; {frame_begin} to {frame_end} were requested")
    begin, end = frame_begin, frame_end + 1
    return PartFrames(
        residues[residue_offsets[begin] : residue_offsets[frame_end]],
        residue_offsets[begin:end] - residue_offsets[begin],
        nucleotides[nucleotide_offsets[begin] : nucleotide_offsets[frame_end]],
        nucleotide_offsets[begin:end] - nucleotide_offsets[begin],
        of_second_look,
    )


def _unreadable(path: Path, why: str) -> PartFailedError:
    return PartFailedError("part_unreadable", f"The part's file {path.name} can't be used: {why}.", str(path))


def _fits(letters: npt.NDArray[np.generic], offsets: Offsets) -> bool:
    if letters.dtype != np.uint8 or letters.ndim != 1 or offsets.ndim != 1 or len(offsets) < 1:
        return False
    return int(offsets[0]) == 0 and int(offsets[-1]) == len(letters) and bool(np.all(np.diff(offsets) >= 1))


def gathered(letters: Letters, offsets: Offsets, frames: npt.NDArray[np.integer]) -> tuple[Letters, Offsets]:
    """Gather letters and offsets of the frames with these numbers, in this order."""
    lengths = np.diff(offsets)[frames]
    new_offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(int(new_offsets[-1])) + np.repeat(offsets[frames] - new_offsets[:-1], lengths)
    return letters[places], new_offsets
