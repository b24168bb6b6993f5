"""The stream of frames is cut into parts at the right places."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from virnucpro_backend.prepare.parts import MOST_FRAMES, FrameBlock, Part, PartWriter

Chunk = list[int]
"""The residues of each frame of a chunk."""


def block(first_row: int, chunks: list[Chunk]) -> FrameBlock:
    """Make each chunk a separate record, except every third, which continues the previous record."""
    rows = [first_row + i - (1 if (first_row + i) % 3 == 2 else 0) for i in range(len(chunks))]
    numbers = [1 if (first_row + i) % 3 == 2 else 0 for i in range(len(chunks))]
    frames = [len(chunk) for chunk in chunks]
    counts = np.array([count for chunk in chunks for count in chunk], np.int64)
    total = int(counts.sum())
    return FrameBlock(
        np.repeat(np.array(rows, np.int64), frames),
        np.repeat(np.array(numbers, np.int64), frames),
        np.concatenate([np.zeros(0, np.uint8), *(np.arange(n, dtype=np.uint8) for n in frames)]),
        np.arange(total).astype(np.uint8),
        counts,
        np.arange(3 * total).astype(np.uint8),
        3 * counts,
    )


def cut(
    chunks: list[Chunk], sizes: list[int], target: int, tail_parts: int, most_frames: int = MOST_FRAMES
) -> list[list[tuple[int, int, int]]]:
    """Return the frames (row, chunk, residues) of each part if chunks come in blocks of the given sizes."""
    announced: list[Part] = []
    parts = []
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("virnucpro_backend.prepare.parts.MOST_FRAMES", most_frames),
    ):
        work = Path(folder)
        (work / "parts").mkdir()
        writer = PartWriter(work, 500, target, tail_parts, 1, 1, announced.append)
        begin = 0
        for size in [*sizes, len(chunks)]:
            part = chunks[begin : begin + size]
            writer.add(block(begin, part))
            begin += len(part)
        writer.finish()
        writer.close()
        for part in announced:
            file = load_file(work.parent / work.name / part.path.removeprefix("work/"))
            counts = np.diff(file["residue_offsets"].astype(np.int64))
            assert (part.frames, part.residues) == (counts.size, counts.sum())
            assert (np.diff(file["nucleotide_offsets"].astype(np.int64)) == 3 * counts).all()
            assert (part.first_row, part.last_row) == (file["row"][0], file["row"][-1])
            keys = list(zip(file["row"].tolist(), file["chunk"].tolist(), strict=True))
            assert part.chunks == len(set(keys))
            parts.append([(*key, count) for key, count in zip(keys, counts.tolist(), strict=True)])
    return parts


chunk_lists = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=6), max_size=60)


@settings(max_examples=150)
@given(
    chunk_lists,
    st.lists(st.integers(0, 12), max_size=20),
    st.integers(1, 120),
    st.sampled_from([0, 4, 8, 32]),
    st.one_of(st.just(MOST_FRAMES), st.integers(1, 30)),
)
def test_cuts_follow_the_plain_rule_however_the_frames_arrive(
    chunks: list[Chunk], sizes: list[int], target: int, tail_parts: int, most_frames: int
) -> None:
    whole = block(0, chunks)
    stream = list(zip(whole.row.tolist(), whole.chunk.tolist(), whole.residue_counts.tolist(), strict=True))
    expected: list[list[tuple[int, int, int]]] = []
    rest = list(stream)

    def residues(frames: list[tuple[int, int, int]]) -> int:
        return sum(frame[2] for frame in frames)

    def take(size: int, most: int) -> None:
        part: list[tuple[int, int, int]] = []
        while rest and ((residues(part) < size and len(part) < most) or rest[0][:2] == part[-1][:2]):
            part.append(rest.pop(0))
        expected.append(part)

    kept_back = tail_parts // 4 + 1
    while residues(rest) >= kept_back * target or len(rest) >= kept_back * most_frames:
        take(target, most_frames)
    while rest:
        take(*(max(1, number // 4) if tail_parts else number for number in (target, most_frames)))
    assert cut(chunks, sizes, target, tail_parts, most_frames) == expected
