"""Repairs that a user may choose; they apply to every file of a run, in every pass over it.

Everything after the scanner sees the repaired records, so that scores, names and sequences that are extracted
later match. The files are not changed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from virnucpro_backend.prepare.arrays import offsets_of, translate
from virnucpro_backend.prepare.scanning.batch import ScanBatch

Repair = Literal["read_u_as_t", "whole_headers_as_names", "remove_gaps"]

GAPS = b"-."

_U_AS_T = bytes.maketrans(b"Uu", b"Tt")


def mended(batch: ScanBatch, repairs: Collection[Repair]) -> ScanBatch:
    """Return the batch as if it had been scanned from a repaired file."""
    letters, begins = batch.letters, batch.begins
    headers, header_counts = batch.headers, batch.header_counts
    if "remove_gaps" in repairs:
        is_gap = np.isin(letters, np.frombuffer(GAPS, np.uint8))
        begins = begins - offsets_of(is_gap.astype(np.int64))[begins]
        letters = letters[~is_gap]
    if "read_u_as_t" in repairs:
        letters = translate(letters, _U_AS_T)
    if "whole_headers_as_names" in repairs:
        ends = np.cumsum(header_counts).tolist()
        names = [
            _as_one_word(headers[end - count : end])
            for end, count in zip(ends, header_counts.tolist(), strict=True)
        ]
        headers = b"".join(names)
        header_counts = np.fromiter(map(len, names), np.int64, len(names))
    return ScanBatch(
        letters, begins, batch.byte_offsets, headers, header_counts, batch.malformed, batch.comment_lines
    )


def _as_one_word(header: bytes) -> bytes:
    # In all tables, also the original tool's, names end at the first blank, so names must have none.
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    return "_".join(text.split()).encode("utf-8")
