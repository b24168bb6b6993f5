"""Cuts the stream of open frames into parts, files of about equal work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.safetensors_file import write_safetensors

FORMAT_VERSION = "1"

MOST_FRAMES = 16_384
"""A part ends at this many frames, however few residues they have: on very short sequences, the data per
frame would otherwise fill a device's memory. With 16 residues per frame, this limit is never reached."""


@dataclass(frozen=True)
class PartSize:
    """A part ends when it has this many residues or this many frames."""

    residues: int
    frames: int

    def reached(self, residues: int, frames: int) -> bool:
        """Whether either limit is reached."""
        return residues >= self.residues or frames >= self.frames

    def times(self, parts: float) -> PartSize:
        """Return the size of this many parts, at least one residue and one frame."""
        return PartSize(max(1, int(self.residues * parts)), max(1, int(self.frames * parts)))


@dataclass(frozen=True)
class FrameBlock:
    """Frames of complete chunks ordered by row, chunk and frame, with their letters; see Frames.

    row: int64 [f], the record's number in the run; chunk: int64 [f], the chunk's number in its record.
    """

    row: IntArray
    chunk: IntArray
    frame: ByteArray
    residues: ByteArray
    residue_counts: IntArray
    nucleotides: ByteArray
    nucleotide_counts: IntArray

    def split(self, frames: int) -> tuple[FrameBlock, FrameBlock]:
        """Split off the first `frames` frames."""
        residues = int(self.residue_counts[:frames].sum())
        nucleotides = int(self.nucleotide_counts[:frames].sum())

        def part(frame: slice, residue: slice, nucleotide: slice) -> FrameBlock:
            return FrameBlock(
                self.row[frame],
                self.chunk[frame],
                self.frame[frame],
                self.residues[residue],
                self.residue_counts[frame],
                self.nucleotides[nucleotide],
                self.nucleotide_counts[frame],
            )

        return (
            part(slice(frames), slice(residues), slice(nucleotides)),
            part(slice(frames, None), slice(residues, None), slice(nucleotides, None)),
        )

    def by_round(self, rounds: ByteArray) -> Iterator[tuple[int, FrameBlock]]:
        """Yield the frames of each round; rounds: the round of each frame, ascending [f]."""
        rest = self
        for number, count in enumerate(np.bincount(rounds).tolist()):
            block, rest = rest.split(count)
            # Copy: a slice that waits for its part to fill would keep all of these frames in memory.
            yield number, FrameBlock(*(getattr(block, field.name).copy() for field in fields(FrameBlock)))

    def begins_chunk(self) -> npt.NDArray[np.bool_]:
        """Whether each frame is the first of its chunk, [f]."""
        begins = np.ones(self.row.size, np.bool_)
        begins[1:] = (np.diff(self.row) != 0) | (np.diff(self.chunk) != 0)
        return begins


@dataclass(frozen=True)
class Part:
    """A written part. path: relative to the run folder; first_row, last_row: the range of its records."""

    key: str
    path: str
    sha256: str
    frames: int
    residues: int
    chunks: int
    first_row: int
    last_row: int
    round: int


class _Waiting:
    """The frames of a round that are not in a part yet."""

    def __init__(self) -> None:
        self._blocks: deque[FrameBlock] = deque()
        self._residues = self._frames = 0

    def add(self, block: FrameBlock) -> None:
        """Add the next frames; only complete chunks."""
        self._blocks.append(block)
        self._residues += block.residues.size
        self._frames += block.row.size

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def reach(self, size: PartSize) -> bool:
        """Whether there are enough frames for this size."""
        return size.reached(self._residues, self._frames)

    def take(self, size: PartSize) -> list[FrameBlock]:
        """Take blocks up to the first end of a chunk that fills a part of this size, or all of them."""
        taken: list[FrameBlock] = []
        residues = frames = 0
        while self._blocks and not size.reached(residues, frames):
            block = self._blocks.popleft()
            if size.reached(residues + block.residues.size, frames + block.row.size):
                missing = PartSize(size.residues - residues, size.frames - frames)
                block, rest = block.split(_end_of_chunk(block, missing))
                if rest.row.size:
                    self._blocks.appendleft(rest)
            taken.append(block)
            residues += block.residues.size
            frames += block.row.size
        self._residues -= residues
        self._frames -= frames
        return taken


class PartWriter:
    """Writes parts/NNNNNN.safetensors in `work_dir`.

    Calls `on_part`, from a separate thread, for each part that is on disk.

    A part has frames of one round and one look, in the order of arrival, so that the parts of the first look
    are those of a run without a second one. It ends with the first chunk that brings it to
    `residues_per_part` residues or to MOST_FRAMES frames. Parts of the first of several rounds have a quarter
    of the size, and so has as much of the last round as tail_parts / 4 full parts hold, which is kept back
    until the end: the workers finish either together. The cuts depend only on the frames and these numbers.
    """

    def __init__(
        self,
        work_dir: Path,
        chunk_length: int,
        residues_per_part: int,
        tail_parts: int,
        rounds: int,
        looks: int,
        on_part: Callable[[Part], None],
    ) -> None:
        self._folder = work_dir / "parts"
        self._chunk_length = chunk_length
        self._full = PartSize(residues_per_part, MOST_FRAMES)
        self._until_full = self._full.times(1 + tail_parts // 4)
        self._tail = self._full.times(1 / 4) if tail_parts else self._full
        self._on_part = on_part
        self._waiting = tuple(tuple(_Waiting() for _ in range(looks)) for _ in range(rounds))
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="parts")
        self._writing: Future[None] | None = None
        self.parts = 0
        """How many parts have been cut; the last one may not be on disk yet."""

    def add(self, block: FrameBlock, number: int = 0, look: int = 0) -> None:
        """Add the next frames of a round and look: complete chunks. Raises OSError if writing fails."""
        if block.row.size == 0:
            return
        waiting = self._waiting[number][look]
        waiting.add(block)
        is_last = number == len(self._waiting) - 1
        size = self._full if is_last or number > 0 else self._tail
        while waiting.reach(self._until_full if is_last else size):
            self._write(waiting.take(size), number)

    def finish(self) -> None:
        """Write the frames that were kept back, and the parts that are not full. More frames may follow."""
        for number, looks in enumerate(self._waiting):
            size = self._full if 0 < number < len(self._waiting) - 1 else self._tail
            for waiting in looks:
                while waiting:
                    self._write(waiting.take(size), number)
        self._await_disk()

    def close(self) -> None:
        """Wait for the part that is being written, if any; `on_part` is not called after this."""
        self._disk.shutdown()

    def _write(self, blocks: list[FrameBlock], number: int) -> None:
        # Write one part while the frames of the next are being found.
        self._await_disk()
        self._writing = self._disk.submit(self._write_now, self.parts, blocks, number)
        self.parts += 1

    def _await_disk(self) -> None:
        if self._writing is not None:
            self._writing.result()

    def _write_now(self, part: int, blocks: list[FrameBlock], number: int) -> None:
        key = f"{part:06d}"
        name = f"{key}.safetensors"
        row = np.concatenate([block.row for block in blocks])
        residue_counts = np.concatenate([block.residue_counts for block in blocks])
        nucleotide_counts = np.concatenate([block.nucleotide_counts for block in blocks])
        arrays = {
            "row": row.astype(np.uint32),
            "chunk": np.concatenate([block.chunk for block in blocks]).astype(np.uint32),
            "frame": np.concatenate([block.frame for block in blocks]),
            "residues": np.concatenate([block.residues for block in blocks]),
            "residue_offsets": offsets_of(residue_counts).astype(np.uint32),
            "nucleotides": np.concatenate([block.nucleotides for block in blocks]),
            "nucleotide_offsets": offsets_of(nucleotide_counts).astype(np.uint32),
        }
        metadata = {"kind": "part", "version": FORMAT_VERSION, "chunk_length": str(self._chunk_length)}
        written = write_safetensors(self._folder / name, arrays, metadata)
        chunks = sum(int(block.begins_chunk().sum()) for block in blocks)
        residues = int(residue_counts.sum())
        self._on_part(
            Part(
                key,
                f"work/parts/{name}",
                written.sha256,
                row.size,
                residues,
                chunks,
                int(row[0]),
                int(row[-1]),
                number,
            )
        )


def _end_of_chunk(block: FrameBlock, missing: PartSize) -> int:
    """Count the frames up to the end of the first chunk with which the block fills a part."""
    by_residues = int(np.searchsorted(np.cumsum(block.residue_counts), missing.residues))
    reaching = min(by_residues, missing.frames - 1)
    later = np.flatnonzero(block.begins_chunk()[reaching + 1 :])
    return reaching + 1 + int(later[0]) if later.size else block.row.size
