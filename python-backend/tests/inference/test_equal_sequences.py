"""Equal proteins and equal nucleotides of a part are embedded once, which must not change any score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_parts import random_frames, score

from virnucpro_backend.inference.equal_sequences import distinct_sequences
from virnucpro_backend.inference.part_file import PartFrames, gathered
from virnucpro_backend.inference.scorer import PartScorer

MakeScorer = Callable[..., PartScorer]


@given(st.lists(st.text("AC", min_size=1, max_size=3), max_size=40))
def test_every_frame_maps_to_its_letters_and_no_sequence_is_stored_twice(sequences: list[str]) -> None:
    letters = np.frombuffer("".join(sequences).encode(), np.uint8)
    offsets = np.cumsum([0, *map(len, sequences)])
    distinct = distinct_sequences(letters, offsets)
    kept = [sequences[number] for number in distinct.first]
    assert len(set(kept)) == len(kept)
    assert [kept[place] for place in distinct.place] == sequences
    assert distinct.first.tolist() == sorted(distinct.first)
    assert all(
        sequences.index(sequence) == number for sequence, number in zip(kept, distinct.first, strict=True)
    )
    assert distinct.repeats == len(sequences) - len(set(sequences))


def drawn(base: PartFrames, numbers: list[int], nucleotides_of: list[int]) -> PartFrames:
    """Make frames with the proteins of some frames and the nucleotides of others."""
    residues, residue_offsets = gathered(base.residues, base.residue_offsets, np.array(numbers))
    dna, dna_offsets = gathered(base.nucleotides, base.nucleotide_offsets, np.array(nucleotides_of))
    return PartFrames(residues, residue_offsets, dna, dna_offsets)


@pytest.fixture(scope="module")
def scorers(make_scorer: MakeScorer) -> tuple[PartScorer, PartScorer]:
    """Make two scorers, one that embeds equal sequences once and one that embeds each."""
    once, each = (make_scorer(embed_equal_sequences_once=value, embeddings="fp32") for value in (True, False))
    return once, each


PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=60)


@settings(max_examples=30)
@given(pairs=PAIRS)
def test_scores_equal_those_of_computing_each_frame(
    scorers: tuple[PartScorer, PartScorer], pairs: list[tuple[int, int]]
) -> None:
    frames = drawn(random_frames(12, seed=21), [p for p, _ in pairs], [d for _, d in pairs])
    once, each = (scorer.score(frames) for scorer in scorers)
    np.testing.assert_allclose(once.score1, each.score1, atol=2e-6)
    np.testing.assert_allclose(once.score2, each.score2, atol=2e-6)
    assert once.state.tolist() == each.state.tolist()
    assert (each.repeated_proteins, each.repeated_nucleotides) == (0, 0)
    assert once.repeated_proteins == len(pairs) - len({p for p, _ in pairs})
    assert once.repeated_nucleotides == len(pairs) - len({d for _, d in pairs})
    assert once.embeddings is not None
    for part, name in ((0, "esm2"), (1, "dnabert_s")):
        by_sequence: dict[int, bytes] = {}
        for pair, vector in zip(pairs, once.embeddings[name], strict=True):
            assert by_sequence.setdefault(pair[part], vector.tobytes()) == vector.tobytes()
    by_pair: dict[tuple[int, int], bytes] = {}
    for pair, virus in zip(pairs, once.score2, strict=True):
        assert by_pair.setdefault(pair, virus.tobytes()) == virus.tobytes()


@settings(max_examples=20)
@given(pairs=PAIRS)
def test_progress_adds_up_to_all_frames(
    scorers: tuple[PartScorer, PartScorer], pairs: list[tuple[int, int]]
) -> None:
    frames = drawn(random_frames(12, seed=22), [p for p, _ in pairs], [d for _, d in pairs])
    _, heard = score(scorers[0], frames)
    assert (heard.frames, heard.residues) == (len(pairs), len(frames.residues))
