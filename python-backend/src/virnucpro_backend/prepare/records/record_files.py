"""Writes the files that describe every record of the inputs and whether it can be scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.records.headers import Headers
from virnucpro_backend.safetensors_file import write_safetensors

FORMAT_VERSION = "1"
RECORDS_PER_FILE = 131_072
# The largest size of a file's headers, which bounds memory.
HEADER_BYTES_PER_FILE = 16 << 20


class Reason(IntEnum):
    """Why a record can't be scored, as stored; the lower-case names are those of the result tables."""

    OK = 0
    EMPTY = 1
    INVALID_CHARACTERS = 2
    MALFORMED_RECORD = 3
    BELOW_MIN_LENGTH = 4


_COLUMNS: dict[str, type[np.generic]] = {
    "byte_offset": np.uint64,
    "length": np.uint64,
    "n_chunks": np.uint32,
    "reason": np.uint8,
    "n_frames": np.uint32,
    "n_lost": np.uint32,
    "n_lost_to_tag": np.uint32,
    "n_lost_to_tga": np.uint32,
    "genetic_code": np.uint8,
    "repeat_kind": np.uint8,
    "repeat_length": np.uint32,
}


@dataclass(frozen=True)
class RecordRows:
    """Consecutive records of one input. columns: those of _COLUMNS, [k] each."""

    input: int
    headers: Headers
    columns: Mapping[str, npt.NDArray[Any]]

    @property
    def count(self) -> int:
        """The number of records, k."""
        return self.headers.counts.size

    def split(self, count: int) -> tuple[RecordRows, RecordRows]:
        """Split off the first `count` records."""
        head, tail = self.headers.split(count)
        return (
            RecordRows(self.input, head, {name: column[:count] for name, column in self.columns.items()}),
            RecordRows(self.input, tail, {name: column[count:] for name, column in self.columns.items()}),
        )


@dataclass(frozen=True)
class RecordFile:
    """A written file. path: relative to the run folder."""

    path: str
    sha256: str
    first_row: int
    count: int


class RecordWriter:
    """Writes records/NNNNNN.safetensors in `work_dir`, and calls `on_file` for each file that is on disk.

    A file holds RECORDS_PER_FILE records, or fewer if their headers reach HEADER_BYTES_PER_FILE.
    """

    def __init__(self, work_dir: Path, on_file: Callable[[RecordFile], None]) -> None:
        self._folder = work_dir / "records"
        self._on_file = on_file
        self._waiting: list[RecordRows] = []
        self._waiting_records = 0
        self._waiting_header_bytes = 0
        self._files: list[RecordFile] = []
        self._first_row = 0

    @property
    def next_row(self) -> int:
        """The row of the next record."""
        return self._first_row + self._waiting_records

    def add(self, rows: RecordRows) -> None:
        """Add the next records. Raises OSError if a file can't be written."""
        while rows.count:
            room = RECORDS_PER_FILE - self._waiting_records
            header_room = HEADER_BYTES_PER_FILE - self._waiting_header_bytes
            fitting = int(np.searchsorted(rows.headers.offsets[1:], header_room, side="right"))
            # A record whose header alone exceeds the limit still needs a file.
            taken = min(room, max(fitting, 0 if self._waiting_records else 1), rows.count)
            head, rows = rows.split(taken)
            if head.count:
                self._waiting.append(head)
                self._waiting_records += head.count
                self._waiting_header_bytes += len(head.headers.text)
            if rows.count or self._waiting_records == RECORDS_PER_FILE:
                self._write()

    def finish(self) -> None:
        """Write the remaining records."""
        if self._waiting:
            self._write()

    def name(self, row: int) -> str:
        """Return the name of a record that has been added."""
        if row >= self._first_row:
            place = row - self._first_row
            for rows in self._waiting:
                if place < rows.count:
                    return rows.headers.name(place)
                place -= rows.count
        number = next(i for i, file in enumerate(self._files) if row < file.first_row + file.count)
        arrays = load_file(self._folder / _name(number))
        place = row - self._files[number].first_row
        begin = int(arrays["header_offsets"][place])
        return bytes(arrays["header"][begin : begin + int(arrays["name_bytes"][place])]).decode("utf-8")

    def _write(self) -> None:
        waiting = self._waiting
        count = self._waiting_records
        headers = b"".join(rows.headers.text for rows in waiting)
        header_counts = np.concatenate([rows.headers.counts for rows in waiting])

        def of_all(name: str, type: type[np.generic]) -> npt.NDArray[Any]:
            return np.concatenate([rows.columns[name] for rows in waiting]).astype(type)

        inputs = np.repeat([rows.input for rows in waiting], [rows.count for rows in waiting])
        arrays: dict[str, npt.NDArray[Any]] = {
            "row": np.arange(self._first_row, self._first_row + count, dtype=np.uint32),
            "input": inputs.astype(np.uint32),
            **{name: of_all(name, type) for name, type in _COLUMNS.items()},
            "header": np.frombuffer(headers, np.uint8),
            "header_offsets": offsets_of(header_counts).astype(np.uint64),
            "name_bytes": np.concatenate([rows.headers.name_counts for rows in waiting]).astype(np.uint32),
        }
        name = _name(len(self._files))
        metadata = {"kind": "records", "version": FORMAT_VERSION}
        written = write_safetensors(self._folder / name, arrays, metadata)
        file = RecordFile(f"work/records/{name}", written.sha256, self._first_row, count)
        self._files.append(file)
        self._first_row += count
        self._waiting, self._waiting_records, self._waiting_header_bytes = [], 0, 0
        self._on_file(file)


def _name(number: int) -> str:
    return f"{number:06d}.safetensors"
