"""Leaves out invisible marks that editors, spreadsheets and old copy programs leave at lines' ends."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from virnucpro_backend.prepare.arrays import IntArray
from virnucpro_backend.prepare.scanning.batch import ScanBatch

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# The byte-order mark, zero-width spaces and marks of direction, the word joiner, the no-break space, the soft
# hyphen (all in UTF-8), zero bytes, and Ctrl-Z, with which DOS ended text files.
_RUN = re.compile(rb"(?:\xef\xbb\xbf|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xc2[\xa0\xad]|[\x00\x1a])+")
_BEGUN_MARK = re.compile(rb"(?:\xef\xbb?|\xe2[\x80\x81]?|\xc2)\Z")
# A longer run at the end of a block is kept as content: nothing but damage makes one within a line.
_MAX_HELD_BYTES = 64 << 10


class InvisibleMarks:
    """Removes the marks at the beginning and end of every line of a stream, and keeps track of offsets."""

    def __init__(self) -> None:
        self.count = 0
        """Runs of marks removed so far, without one at the stream's beginning."""
        self._held = b""
        self._at_line_begin = True
        self._kept_bytes = 0
        self._removed_bytes = 0
        # Of the runs behind the last record that `with_offsets` has seen: where they stood in the stream
        # without marks, and the bytes removed up to and with each.
        self._places: list[int] = []
        self._removed: list[int] = []
        self._removed_before = 0

    def removed_from(self, block: bytes, *, final: bool = False) -> bytes:
        """Return the next block of the stream without its marks; the end of a block may wait for the next."""
        block = self._held + block
        self._held = b""
        if block and not (block.isascii() and b"\x00" not in block and b"\x1a" not in block):
            block = self._without_marks(block, final=final)
        if block:
            self._at_line_begin = block[-1] in b"\r\n"
        self._kept_bytes += len(block)
        return block

    def with_offsets(self, batch: ScanBatch) -> ScanBatch:
        """Return the batch with offsets of the stream as it was before marks were removed."""
        if self._removed_bytes == 0:
            return batch
        offsets = self._original(batch.byte_offsets)
        stretches = []
        for stretch in batch.passed_over:
            begin, end = self._original(np.array([stretch.offset, stretch.offset + stretch.bytes])).tolist()
            stretches.append(replace(stretch, offset=begin, bytes=end - begin))
        if offsets.size:
            known = int(np.searchsorted(self._places, batch.byte_offsets[-1], side="right"))
            if known:
                self._removed_before = self._removed[known - 1]
            del self._places[:known], self._removed[:known]
        return replace(batch, byte_offsets=offsets, passed_over=tuple(stretches))

    def _original(self, offsets: IntArray) -> IntArray:
        removed = np.array([self._removed_before, *self._removed], np.int64)
        original: IntArray = offsets + removed[np.searchsorted(self._places, offsets, side="right")]
        return original

    def _without_marks(self, block: bytes, *, final: bool) -> bytes:
        if not final:
            begun = _BEGUN_MARK.search(block, max(0, len(block) - 2))
            if begun:
                self._held = begun[0]
                block = block[: begun.start()]
        pieces = []
        kept = end = 0
        for run in _RUN.finditer(block):
            at_begin = block[run.start() - 1] in b"\r\n" if run.start() else self._at_line_begin
            if not at_begin and run.end() == len(block) and not final:
                if len(run[0]) <= _MAX_HELD_BYTES:
                    self._held = run[0] + self._held
                    block = block[: run.start()]
                break
            if at_begin or run.end() == len(block) or block[run.end()] in b"\r\n":
                pieces.append(block[end : run.start()])
                kept += run.start() - end
                end = run.end()
                self._remove(kept, len(run[0]))
        return b"".join([*pieces, block[end:]])

    def _remove(self, kept_of_block: int, size: int) -> None:
        place = self._kept_bytes + kept_of_block
        if place:
            self.count += 1
        self._removed_bytes += size
        self._places.append(place)
        self._removed.append(self._removed_bytes)
