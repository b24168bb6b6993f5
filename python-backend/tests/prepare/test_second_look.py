from __future__ import annotations

import random
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_definition import chunk_bounds, frames_of_chunk
from prepare_process import texts_of
from safetensors.numpy import load

from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import FRAME_NAMES, GeneticCode, open_frames
from virnucpro_backend.prepare.preparation import Job, JobInput, Preparation
from virnucpro_backend.prepare.second_look import frames_of_second_look

# Chunks without a stop codon and with one in every frame must both be common.
PIECES = ["ACG", "GCC", "CCC", "TTA", "TAA", "TAG", "TGA", "N", "acg", "TTAATTAATTAA"]
SEQUENCES = st.lists(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), min_size=1, max_size=4)
LENGTHS = st.integers(20, 60).flatmap(lambda c: st.tuples(st.just(c), st.integers(-(-c // 2), c - 1)))


def plain_frames(chunk: str, second: int, code: GeneticCode) -> list[tuple[int, str, str]]:
    """Frames of a chunk's shorter chunks by their definition: number, protein and nucleotides."""
    if frames_of_chunk(chunk, code):
        return []
    return [
        (FRAME_NAMES.index(name) + 6 * (1 + part), *letters)
        for part, (begin, end) in enumerate(chunk_bounds(len(chunk), second))
        for name, *letters in frames_of_chunk(chunk[begin:end], code)
    ]


@settings(deadline=None)
@given(SEQUENCES, LENGTHS, st.sampled_from(get_args(GeneticCode)))
def test_frames_are_those_of_the_shorter_chunks_where_a_chunk_has_none(
    sequences: list[str], lengths: tuple[int, int], code: GeneticCode
) -> None:
    first, second = lengths
    letters = np.frombuffer("".join(sequences).encode(), np.uint8)
    sizes = np.array([len(sequence) for sequence in sequences], np.int64)
    table = chunk_table(sizes, first)
    starts = (np.cumsum(sizes) - sizes)[table.record] + table.start
    whole = open_frames(letters, starts, table.length, code)
    frames = frames_of_second_look(letters, starts, table.length, code, whole, second)
    joined = "".join(sequences)
    assert texts_of(frames) == [
        (chunk, *frame)
        for chunk, (begin, length) in enumerate(zip(starts.tolist(), table.length.tolist(), strict=True))
        for frame in plain_frames(joined[begin : begin + length], second, code)
    ]


@pytest.mark.parametrize("order_seed", [None, 7])
def test_parts_of_the_first_look_are_those_of_a_run_without_a_second(
    tmp_path: Path, order_seed: int | None
) -> None:
    random_ = random.Random(3)
    reads = tmp_path / "reads.fa"
    letters = ["".join(random_.choices("AACCGGT", k=random_.randint(200, 1300))) for _ in range(300)]
    reads.write_text("".join(f">r{i}\n{read}\n" for i, read in enumerate(letters)))

    def parts(name: str, second: int | None) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []

        def keep(type: str, **fields: Any) -> None:
            if type == "part":
                found.append((fields["round"], (tmp_path / name / fields["path"]).read_bytes()))

        (tmp_path / name).mkdir()
        job = Job((JobInput(0, reads, None),), tmp_path / name / "work", 500, 900, 4, order_seed, second)
        Preparation(job, keep).run()
        return found

    alone, both = parts("alone", None), parts("both", 300)
    frames = [load(content)["frame"] for _, content in both]
    assert all(np.all(part < 6) or np.all(part >= 6) for part in frames)
    is_first = [bool(part[0] < 6) for part in frames]
    assert 3 < sum(is_first) < len(both) - 3
    assert [part for part, first in zip(both, is_first, strict=True) if first] == alone
