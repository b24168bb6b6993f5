from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_definition import chunk_bounds, frames_of_chunk

from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import FRAME_NAMES
from virnucpro_backend.prepare.second_look import frames_of_chunks

# Chunks without a stop codon and with one in every frame must both be common.
PIECES = ["ACG", "GCC", "CCC", "TTA", "TAA", "N", "acg", "TTAATTAATTAA"]
SEQUENCES = st.lists(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), min_size=1, max_size=4)
LENGTHS = st.integers(20, 60).flatmap(lambda c: st.tuples(st.just(c), st.integers(-(-c // 2), c - 1)))


def plain_frames(chunk: str, second: int | None) -> list[tuple[int, str, str]]:
    """Frames of a chunk by their definition: number, protein and nucleotides."""
    whole = [(FRAME_NAMES.index(name), *letters) for name, *letters in frames_of_chunk(chunk)]
    if whole or second is None:
        return whole
    return [
        (FRAME_NAMES.index(name) + 6 * (1 + part), *letters)
        for part, (begin, end) in enumerate(chunk_bounds(len(chunk), second))
        for name, *letters in frames_of_chunk(chunk[begin:end])
    ]


@settings(deadline=None)
@given(SEQUENCES, LENGTHS, st.booleans())
def test_frames_are_those_of_the_chunk_or_of_its_shorter_chunks(
    sequences: list[str], lengths: tuple[int, int], looks_twice: bool
) -> None:
    first, second = lengths[0], lengths[1] if looks_twice else None
    letters = np.frombuffer("".join(sequences).encode(), np.uint8)
    sizes = np.array([len(sequence) for sequence in sequences], np.int64)
    table = chunk_table(sizes, first)
    starts = (np.cumsum(sizes) - sizes)[table.record] + table.start
    frames = frames_of_chunks(letters, starts, table.length, second)
    residues, nucleotides = frames.residues.tobytes().decode(), frames.nucleotides.tobytes().decode()
    ends = np.cumsum(frames.residue_counts), np.cumsum(frames.nucleotide_counts)
    found = [
        (int(chunk), int(frame), residues[r - n_r : r], nucleotides[n - n_n : n])
        for chunk, frame, r, n_r, n, n_n in zip(
            frames.chunk, frames.frame, ends[0], frames.residue_counts, ends[1], frames.nucleotide_counts,
            strict=True,
        )
    ]  # fmt: skip
    joined = "".join(sequences)
    assert found == [
        (chunk, *frame)
        for chunk, (begin, length) in enumerate(zip(starts.tolist(), table.length.tolist(), strict=True))
        for frame in plain_frames(joined[begin : begin + length], second)
    ]


@given(LENGTHS, st.integers(1, 400))
def test_shorter_chunks_cover_every_base_and_begin_in_order(lengths: tuple[int, int], length: int) -> None:
    first, second = lengths
    spans = []
    for begin, end in chunk_bounds(length, first):
        shorter = [(begin + a, begin + b) for a, b in chunk_bounds(end - begin, second)]
        assert len(shorter) <= 2
        assert shorter[0][0] == begin
        assert shorter[-1][1] == end
        assert all(one[1] >= other[0] for one, other in pairwise(shorter))
        spans += shorter
    assert spans == sorted(spans)
