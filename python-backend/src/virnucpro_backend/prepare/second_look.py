"""Looks a second time, in shorter chunks, at chunks without an open reading frame.

Such a chunk is cut anew within its bounds by the rule for sequences. As the second length is at least half of
the first, this gives one or two shorter chunks; their open frames are frames of the chunk itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of, ragged_slices
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import FRAME_NAMES, Frames, open_frames

FIRST_OF_SECOND_LOOK = len(FRAME_NAMES)
"""A frame has its number in FRAME_NAMES, plus this in the first shorter chunk, twice this in the second."""


def frames_of_chunks(
    letters: ByteArray, starts: IntArray, lengths: IntArray, second_length: int | None
) -> Frames:
    """Find the open frames of chunks, as `open_frames` does, and of those without any in shorter chunks.

    second_length: bases of a shorter chunk, or None for no second look. The frames stay ordered by chunk and
    then by number; lost_to_tag and lost_to_tga are those of the whole chunks.
    """
    first = open_frames(letters, starts, lengths)
    if second_length is None:
        return first
    is_lost = lengths > second_length
    is_lost[first.chunk] = False
    lost = np.flatnonzero(is_lost)
    shorter = chunk_table(lengths[lost], second_length)
    second = open_frames(letters, starts[lost][shorter.record] + shorter.start, shorter.length)
    number = second.frame + FIRST_OF_SECOND_LOOK * (1 + shorter.chunk[second.chunk])
    chunk = np.concatenate([first.chunk, lost[shorter.record[second.chunk]]])
    order = np.argsort(chunk, kind="stable")
    residue_counts = np.concatenate([first.residue_counts, second.residue_counts])
    nucleotide_counts = np.concatenate([first.nucleotide_counts, second.nucleotide_counts])
    return replace(
        first,
        chunk=chunk[order],
        frame=np.concatenate([first.frame, number.astype(np.uint8)])[order],
        residues=_in_order(first.residues, second.residues, residue_counts, order),
        residue_counts=residue_counts[order],
        nucleotides=_in_order(first.nucleotides, second.nucleotides, nucleotide_counts, order),
        nucleotide_counts=nucleotide_counts[order],
    )


def _in_order(first: ByteArray, second: ByteArray, counts: IntArray, order: IntArray) -> ByteArray:
    """Join the letters of both looks' frames in this order; counts: letters of each frame, [f]."""
    return ragged_slices(first.tobytes() + second.tobytes(), offsets_of(counts)[:-1][order], counts[order])
