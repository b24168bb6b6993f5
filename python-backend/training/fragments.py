"""Labelled fragments of genomes, and the reading frames that a run would make from cuts of them."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from virnucpro_backend.encoders.tokens import DnaTokenizer, TokenSequences, esm2_tokens
from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import open_frames

FOLDS = 10
TEST_FOLDS = (0, 1)
"""Fragments of the records in these folds are not used for training or for choosing a variant."""


@dataclass(frozen=True)
class Fragment:
    """A piece of a genome record; `begin` and `end` are 1-based and inclusive, as in the file's header."""

    record: str
    begin: int
    end: int
    virus: bool
    letters: str

    @property
    def fold(self) -> int:
        """0 to 9, the same for all fragments of a record."""
        return int(hashlib.sha256(f"split1{self.record}".encode()).hexdigest(), 16) % FOLDS


def read_fragments(folder: Path) -> list[Fragment]:
    """Read the fragments in `virus.fa.gz` and `host.fa.gz`, with headers `record#length#begin#end`."""
    fragments = []
    for name, virus in (("virus.fa.gz", True), ("host.fa.gz", False)):
        with gzip.open(folder / name, "rt", encoding="ascii") as file:
            for entry in file.read().split(">")[1:]:
                header, *lines = entry.split("\n")
                record, _, begin, end = header.strip().split("#")
                # One of these numbers is written as 3e+05.
                first, last = int(float(begin)), int(float(end))
                fragments.append(Fragment(record, first, last, virus, "".join(lines).upper()))
    return fragments


def write_numbered(path: Path, sequences: Iterable[str]) -> Path:
    """Write sequences as FASTA, each named by its number from 0; return the path."""
    path.write_text("".join(f">{n}\n{each}\n" for n, each in enumerate(sequences)), encoding="ascii")
    return path


@dataclass(frozen=True)
class FrameTokens:
    """Reading frames of sequences: tokens int16 [frames, length], padded with -1; sequence int64 [frames]."""

    proteins: npt.NDArray[np.int16]
    dna: npt.NDArray[np.int16]
    sequence: npt.NDArray[np.int64]


def frame_tokens(sequences: Sequence[str], tokenizer: DnaTokenizer, chunk_length: int) -> FrameTokens:
    """Tokenize the open frames of sequences that are cut into chunks by a run's rule."""
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    letters = np.frombuffer("".join(sequences).encode("ascii"), np.uint8)
    table = chunk_table(lengths, chunk_length)
    frames = open_frames(letters, offsets_of(lengths)[table.record] + table.start, table.length)
    proteins = esm2_tokens(frames.residues, offsets_of(frames.residue_counts))
    dna = tokenizer.encode(frames.nucleotides, offsets_of(frames.nucleotide_counts))
    return FrameTokens(padded(proteins), padded(dna), table.record[frames.chunk])


def padded(sequences: TokenSequences) -> npt.NDArray[np.int16]:
    """Return token sequences as rows, padded with -1."""
    lengths = sequences.lengths
    out = np.full((lengths.size, int(lengths.max(initial=1))), -1, np.int16)
    out[np.arange(out.shape[1]) < lengths[:, None]] = sequences.tokens
    return out


def random_cuts(
    fragments: Sequence[Fragment], length: int, count: int, most_mutations: float, random: np.random.Generator
) -> Iterator[str]:
    """Yield `count` cuts of every fragment at random places; every second one has random substitutions in at
    most a share `most_mutations` of its bases."""
    bases = np.frombuffer(b"ACGT", np.uint8)
    for fragment in fragments:
        letters = np.frombuffer(fragment.letters.encode("ascii"), np.uint8)
        for number in range(count):
            begin = int(random.integers(0, len(letters) - length + 1))
            cut = letters[begin : begin + length]
            if number % 2:
                cut = cut.copy()
                mutations = random.binomial(length, most_mutations * random.random())
                changed = random.integers(0, length, mutations)
                cut[changed] = bases[random.integers(0, 4, changed.size)]
            yield cut.tobytes().decode("ascii")
