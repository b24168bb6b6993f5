"""What a user may have mended while an input is read: of every file of a run, and in every pass over it.

Everything behind the scanner sees the mended records, so that scores, names and the sequences that are taken
out of the inputs later belong together. The files stay as they are.
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
    """The batch as it would have been scanned from a file without what is repaired."""
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
    # Names end at the first blank in all tables, those of the original tool included: there must not be any.
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    return "_".join(text.split()).encode("utf-8")
