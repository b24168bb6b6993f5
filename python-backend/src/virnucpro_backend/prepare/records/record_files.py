"""The files that say of every record of the inputs what it is and whether it can be scored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from virnucpro_backend.prepare.arrays import ByteArray, IntArray, offsets_of
from virnucpro_backend.safetensors_file import read_ordinary, write_safetensors

FORMAT_VERSION = "1"
RECORDS_PER_FILE = 131_072
# Headers of a file, so that memory doesn't grow with them.
HEADER_BYTES_PER_FILE = 16 << 20


class Reason(IntEnum):
    """Why a record can't be scored, as stored; the lower-case names are those of the result tables."""

    OK = 0
    EMPTY = 1
    INVALID_CHARACTERS = 2
    MALFORMED_RECORD = 3


@dataclass(frozen=True)
class RecordRows:
    """Consecutive records of one input. headers: UTF-8; all arrays [k], as in the files (run-files.md)."""

    input: int
    byte_offset: IntArray
    length: IntArray
    n_chunks: IntArray
    reason: ByteArray
    n_frames: IntArray
    headers: bytes
    header_counts: IntArray

    @property
    def count(self) -> int:
        """Number of records, k."""
        return self.length.size

    def split(self, count: int) -> tuple[RecordRows, RecordRows]:
        """The first `count` records, and the rest."""
        edge = int(self.header_counts[:count].sum())
        parts = []
        for part, text in ((slice(0, count), slice(0, edge)), (slice(count, None), slice(edge, None))):
            parts.append(
                RecordRows(
                    self.input,
                    self.byte_offset[part],
                    self.length[part],
                    self.n_chunks[part],
                    self.reason[part],
                    self.n_frames[part],
                    self.headers[text],
                    self.header_counts[part],
                )
            )
        return parts[0], parts[1]


@dataclass(frozen=True)
class RecordFile:
    """A written file. path: relative to the run folder."""

    path: str
    sha256: str
    first_row: int
    count: int


class RecordWriter:
    """Writes records/NNNNNN.safetensors in `work_dir`, and calls `on_file` for each one that is on disk.

    A file holds RECORDS_PER_FILE records, or fewer where their headers reach HEADER_BYTES_PER_FILE.
    known: files that are there already; next_row: row of the first record that will be added, which may stand
    in the last of them.
    """

    def __init__(
        self,
        work_dir: Path,
        on_file: Callable[[RecordFile], None],
        known: Sequence[RecordFile] = (),
        next_row: int = 0,
    ) -> None:
        self._folder = work_dir / "records"
        self._on_file = on_file
        self._waiting: list[RecordRows] = []
        self._waiting_records = 0
        self._waiting_header_bytes = 0
        self._files = list(known)
        self.first_waiting_row = known[-1].first_row + known[-1].count if known else 0
        """Records before this row are in files."""
        self._known_to_come = self.first_waiting_row - next_row

    @property
    def next_row(self) -> int:
        """The row that the next record gets."""
        return self.first_waiting_row - self._known_to_come + self._waiting_records

    @property
    def files(self) -> int:
        """Files there are."""
        return len(self._files)

    def add(self, rows: RecordRows) -> None:
        """Take the next records. Raises OSError when a file can't be written."""
        known = min(self._known_to_come, rows.count)
        if known:
            self._known_to_come -= known
            rows = rows.split(known)[1]
        while rows.count:
            room = RECORDS_PER_FILE - self._waiting_records
            header_room = HEADER_BYTES_PER_FILE - self._waiting_header_bytes
            fitting = int(np.searchsorted(np.cumsum(rows.header_counts), header_room, side="right"))
            # A record whose header alone is over the limit still needs a file.
            taken = min(room, max(fitting, 0 if self._waiting_records else 1), rows.count)
            head, rows = rows.split(taken)
            if head.count:
                self._waiting.append(head)
                self._waiting_records += head.count
                self._waiting_header_bytes += len(head.headers)
            if rows.count or self._waiting_records == RECORDS_PER_FILE:
                self._write()

    def finish(self) -> None:
        """Write what is left."""
        if self._waiting:
            self._write()

    def headers_before(self, row: int) -> Iterator[tuple[bytes, IntArray]]:
        """Headers of the records before a row, and how many bytes each has, file by file."""
        for number, file in enumerate(self._files):
            if file.first_row >= row:
                return
            arrays = load_file(self._folder / _name(number))
            offsets = arrays["header_offsets"][: row - file.first_row + 1].astype(np.int64)
            yield arrays["header"][: int(offsets[-1])].tobytes(), np.diff(offsets)

    def header(self, row: int) -> str:
        """Header line of a record that is on disk already."""
        number = next(i for i, file in enumerate(self._files) if row < file.first_row + file.count)
        arrays = load_file(self._folder / _name(number))
        place = row - self._files[number].first_row
        begin, end = arrays["header_offsets"][place : place + 2].tolist()
        return bytes(arrays["header"][begin:end]).decode("utf-8")

    def _write(self) -> None:
        waiting = self._waiting
        count = self._waiting_records
        headers = b"".join(rows.headers for rows in waiting)
        header_counts = np.concatenate([rows.header_counts for rows in waiting])
        arrays: dict[str, npt.NDArray[Any]] = {
            "row": np.arange(self.first_waiting_row, self.first_waiting_row + count, dtype=np.uint32),
            "input": np.repeat([rows.input for rows in waiting], [rows.count for rows in waiting]).astype(
                np.uint32
            ),
            "byte_offset": np.concatenate([rows.byte_offset for rows in waiting]).astype(np.uint64),
            "length": np.concatenate([rows.length for rows in waiting]).astype(np.uint64),
            "n_chunks": np.concatenate([rows.n_chunks for rows in waiting]).astype(np.uint32),
            "reason": np.concatenate([rows.reason for rows in waiting]),
            "n_frames": np.concatenate([rows.n_frames for rows in waiting]).astype(np.uint32),
            "header": np.frombuffer(headers, np.uint8),
            "header_offsets": offsets_of(header_counts).astype(np.uint64),
        }
        name = _name(len(self._files))
        metadata = {"kind": "records", "version": FORMAT_VERSION}
        written = write_safetensors(self._folder / name, arrays, metadata)
        file = RecordFile(f"work/records/{name}", written.sha256, self.first_waiting_row, count)
        self._files.append(file)
        self.first_waiting_row += count
        self._waiting, self._waiting_records, self._waiting_header_bytes = [], 0, 0
        self._on_file(file)


def is_whole(work_dir: Path, number: int, file: RecordFile) -> bool:
    """Whether file `number` is there, as it was written."""
    try:
        found = hashlib.sha256(read_ordinary(work_dir / "records" / _name(number))).hexdigest()
    except OSError:
        return False
    return file.path == f"work/records/{_name(number)}" and file.sha256 == found


def _name(number: int) -> str:
    return f"{number:06d}.safetensors"
