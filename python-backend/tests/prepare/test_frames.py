from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_definition import PlainFrame, frames_of_sequence
from prepare_process import texts_of

from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import FRAME_NAMES, STANDARD, GeneticCode, open_frames

DATA = Path(__file__).parents[1] / "data"


def fast_frames(sequences: list[str], c: int, code: GeneticCode = STANDARD) -> list[list[PlainFrame]]:
    letters = np.frombuffer("".join(sequences).encode("ascii"), np.uint8)
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    table = chunk_table(lengths, c)
    origins = np.cumsum(lengths) - lengths
    frames = open_frames(letters, origins[table.record] + table.start, table.length, code)
    found: list[list[PlainFrame]] = [[] for _ in sequences]
    for chunk, frame, *letters_of_frame in texts_of(frames):
        place = PlainFrame(int(table.chunk[chunk]), FRAME_NAMES[frame], *letters_of_frame)
        found[table.record[chunk]].append(place)
    return found


CODONS = {"TAG": ["TAA", "TGA"], "TGA": ["TAA", "TAG"]}


def lost_by_definition(sequence: str, c: int) -> dict[str, list[int]]:
    """Find chunks in which every frame has a stop, but some frame has none if one codon is not a stop."""
    table = chunk_table(np.array([len(sequence)]), c)
    found: dict[str, list[int]] = {codon: [] for codon in CODONS}
    for number, (start, length) in enumerate(zip(table.start.tolist(), table.length.tolist(), strict=True)):
        chunk = sequence[start : start + length].upper()
        reverse = chunk[::-1].translate(str.maketrans("ACGT", "TGCA"))
        frames = [
            {strand[i : i + 3] for i in range(shift, len(strand) - 2, 3)}
            for strand in (chunk, reverse)
            for shift in range(3)
        ]
        if all(codons & {"TAA", "TAG", "TGA"} for codons in frames):
            for codon, stops in CODONS.items():
                if any(not codons & set(stops) for codons in frames):
                    found[codon].append(number)
    return found


@settings(max_examples=300)
@given(st.data())
def test_chunks_lost_to_one_codon_agree_with_the_plain_definition(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(["ACGT", "ATG", "acgTN"]))
    sequence = data.draw(st.text(alphabet, min_size=1, max_size=300))
    c = data.draw(st.sampled_from([12, 20, 30]))
    table = chunk_table(np.array([len(sequence)]), c)
    frames = open_frames(np.frombuffer(sequence.encode(), np.uint8), table.start, table.length)
    expected = lost_by_definition(sequence, c)
    assert (frames.lost_to_tag.tolist(), frames.lost_to_tga.tolist()) == (expected["TAG"], expected["TGA"])


ALPHABETS = ["ACGT", "ACGTacgt", "ACGTN", "ACGTRYSWKMBDHVNacgtnU-*.?@>0", "AC", "NRYacN", "acgu"]


@settings(max_examples=400)
@given(st.data())
def test_random_sequences_agree_with_the_plain_definition(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    sequences = data.draw(st.lists(st.text(alphabet, max_size=130), min_size=1, max_size=6))
    c = data.draw(st.sampled_from([1, 2, 3, 7, 30, 50]))
    code: GeneticCode = data.draw(st.sampled_from(get_args(GeneticCode)))
    assert fast_frames(sequences, c, code) == [frames_of_sequence(one, c, code) for one in sequences]


def fasta(path: Path) -> dict[str, str]:
    entries = (entry.split("\n", 1) for entry in path.read_text(encoding="ascii").split(">")[1:])
    return {header.split()[0]: body.replace("\n", "") for header, body in entries}


def test_frames_match_those_of_the_original_tool() -> None:
    run = DATA / "original_run"
    sequences = fasta(run / "test_with_orfs.fa")
    frames = {
        f"{name}_chunk_{frame.chunk + 1}{frame.name}": frame
        for name, found in zip(sequences, fast_frames(list(sequences.values()), 500), strict=True)
        for frame in found
    }
    proteins = fasta(run / "test_with_orfs_identified_protein.faa")
    nucleotides = fasta(run / "test_with_orfs_identified_nucleotide.fa")
    assert list(frames) == list(proteins) == list(nucleotides)
    assert {name: frame.protein for name, frame in frames.items()} == proteins
    assert {name: frame.nucleotides for name, frame in frames.items()} == nucleotides
