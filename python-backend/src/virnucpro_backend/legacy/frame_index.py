"""Computes the reading frames of inputs again, and indexes them by the original tool's names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from virnucpro_backend.inference.imported import EncoderName, sequence_key
from virnucpro_backend.prepare.chunking import chunk_windows
from virnucpro_backend.prepare.frames import FRAME_NAMES, open_frames
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.records.survey import Survey

SequenceKey = tuple[int, int]


class FrameIndex:
    """The keys of each frame's two sequences, by the frame's name, such as `contig7_chunk_1R2`.

    If two records share a name, the names of their frames are ambiguous: they are known but have no keys.
    """

    def __init__(self) -> None:
        self._keys: dict[str, tuple[SequenceKey, SequenceKey] | None] = {}

    def read(self, inputs: Iterable[Path], chunk_length: int) -> None:
        """Add the frames of FASTA or FASTQ files. Raises PrepareError."""
        with tempfile.TemporaryDirectory() as spool:
            for path in inputs:
                with InputFile(path) as file:
                    for name, protein, nucleotides in _frames(file, Path(spool), chunk_length):
                        keys = (sequence_key(nucleotides), sequence_key(protein))
                        self._keys[name] = keys if self._keys.setdefault(name, keys) == keys else None

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: str) -> bool:
        return name in self._keys

    def key(self, name: str, encoder: EncoderName) -> SequenceKey | None:
        """The key of a frame's sequence for an encoder; None for an unknown or ambiguous name."""
        keys = self._keys.get(name)
        return None if keys is None else keys[0] if encoder == "dnabert_s" else keys[1]

    def count(self, encoder: EncoderName, known: set[SequenceKey]) -> int:
        """How many frames have one of these keys."""
        place = 0 if encoder == "dnabert_s" else 1
        return sum(keys is not None and keys[place] in known for keys in self._keys.values())


def _frames(file: InputFile, spool: Path, chunk_length: int) -> Iterator[tuple[str, bytes, bytes]]:
    for group in Survey(spool).groups(file):
        lengths = group.records.lengths
        to_chunk = np.where(group.reason == Reason.OK, lengths, 0)
        for window in chunk_windows(group.records.letters, lengths, to_chunk, chunk_length):
            frames = open_frames(window.letters, window.start, window.length)
            residues, nucleotides = frames.residues.tobytes(), frames.nucleotides.tobytes()
            protein_ends = np.cumsum(frames.residue_counts).tolist()
            nucleotide_ends = np.cumsum(frames.nucleotide_counts).tolist()
            protein_begin = nucleotide_begin = 0
            for number, (chunk, frame) in enumerate(
                zip(frames.chunk.tolist(), frames.frame.tolist(), strict=True)
            ):
                record = int(window.record[chunk])
                name = (
                    f"{group.headers.name(record)}_chunk_{int(window.chunk[chunk]) + 1}{FRAME_NAMES[frame]}"
                )
                protein = residues[protein_begin : protein_ends[number]]
                letters = nucleotides[nucleotide_begin : nucleotide_ends[number]]
                protein_begin, nucleotide_begin = protein_ends[number], nucleotide_ends[number]
                yield name, protein, letters
