"""Looks a second time, in shorter chunks, at chunks without an open reading frame.

Such a chunk is cut anew within its bounds by the rule for sequences. As the second length is at least half of
the first, this gives one or two shorter chunks; their open frames are frames of the chunk itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, IntArray
from virnucpro_backend.prepare.chunking import chunk_table
from virnucpro_backend.prepare.frames import FRAME_NAMES, Frames, GeneticCode, open_frames

FIRST_OF_SECOND_LOOK = len(FRAME_NAMES)
"""A frame has its number in FRAME_NAMES, plus this in the first shorter chunk, twice this in the second."""


def frames_of_second_look(
    letters: ByteArray,
    starts: IntArray,
    lengths: IntArray,
    code: GeneticCode,
    first: Frames,
    second_length: int,
) -> Frames:
    """Find the open frames in shorter chunks of the chunks without any; `first`: what `open_frames` found.

    second_length: bases of a shorter chunk. `chunk` counts the given chunks; nothing is said of lost ones.
    """
    is_lost = lengths > second_length
    is_lost[first.chunk] = False
    lost = np.flatnonzero(is_lost)
    shorter = chunk_table(lengths[lost], second_length)
    found = open_frames(letters, starts[lost][shorter.record] + shorter.start, shorter.length, code)
    number = found.frame + FIRST_OF_SECOND_LOOK * (1 + shorter.chunk[found.chunk])
    none = np.zeros(0, np.int64)
    chunk = lost[shorter.record[found.chunk]]
    return replace(found, chunk=chunk, frame=number.astype(np.uint8), lost_to_tag=none, lost_to_tga=none)
