"""Counts what prepare will find in the sampled sequences, with prepare's own code."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field

from benchmarks.inputs.sampling import Pieces
from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import open_frames

_DIGEST_BYTES = 16
"""Distinct proteins are recognised by a 128-bit hash, which no two of a billion will share."""


@dataclass
class Tally:
    """Counts over all pieces added so far; `residues` and `bases` are total lengths."""

    chunk_length: int
    records: int = 0
    bases: int = 0
    substitutions: int = 0
    chunks: int = 0
    frames: int = 0
    residues: int = 0
    _proteins: set[bytes] = field(default_factory=set)

    @property
    def distinct_proteins(self) -> int:
        """The number of distinct proteins among the frames."""
        return len(self._proteins)

    def add(self, pieces: Pieces) -> None:
        """Count a block of pieces, each as a separate record."""
        chunks = chunk_table(pieces.lengths, self.chunk_length)
        begin = offsets_of(pieces.lengths)[chunks.record] + chunks.start
        frames = open_frames(pieces.letters, begin, chunks.length)
        self.records += pieces.lengths.size
        self.bases += pieces.letters.size
        self.substitutions += pieces.substitutions
        self.chunks += chunks.record.size
        self.frames += frames.frame.size
        self.residues += frames.residues.size
        residues = frames.residues.tobytes()
        bounds = offsets_of(frames.residue_counts).tolist()
        self._proteins.update(
            hashlib.blake2b(residues[first:end], digest_size=_DIGEST_BYTES).digest()
            for first, end in itertools.pairwise(bounds)
        )

    def summary(self) -> dict[str, int | float]:
        """Return all counts and the share of distinct proteins."""
        return {
            "records": self.records,
            "bases": self.bases,
            "substitutions": self.substitutions,
            "chunk_length": self.chunk_length,
            "chunks": self.chunks,
            "frames": self.frames,
            "residues": self.residues,
            "distinct_proteins": self.distinct_proteins,
            "distinct_share": round(self.distinct_proteins / max(1, self.frames), 4),
        }


def fasta_text(pieces: Pieces, first_number: int, kind: str) -> bytes:
    """Write pieces as FASTA: `>kind_number source:first-last:strand`, 1-based, each sequence on one line."""
    letters = pieces.letters.tobytes()
    bounds = offsets_of(pieces.lengths).tolist()
    ends = (pieces.start + pieces.lengths).tolist()
    return b"".join(
        b">%b_%d %d:%d-%d:%b\n%b\n"
        % (
            kind.encode(),
            first_number + i,
            record + 1,
            start + 1,
            ends[i],
            b"-" if reverse else b"+",
            letters[bounds[i] : bounds[i + 1]],
        )
        for i, (record, start, reverse) in enumerate(
            zip(pieces.record.tolist(), pieces.start.tolist(), pieces.reverse.tolist(), strict=True)
        )
    )
