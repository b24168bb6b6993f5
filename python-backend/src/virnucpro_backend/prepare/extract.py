"""`python -m virnucpro_backend.prepare.extract`: read the inputs again and write chosen records.

Standard input holds one `ExtractCommand` as a line; the file at its `rows_path` has row numbers as uint32,
little-endian, ascending. The answer is a line on standard output: `extracted` with the number of records,
or `extract_failed` with code, values and the file's name. `reading` comes every few seconds before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import escape
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import numpy as np
import numpy.typing as npt

from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.failures import (
    PrepareError,
    failed_unexpectedly,
    halves_do_not_fit,
    writing_failed,
)
from virnucpro_backend.prepare.input_file import InputFile, tell_of_reading
from virnucpro_backend.prepare.records.survey import Survey, SurveyedGroup
from virnucpro_backend.prepare.scanning.scanner import Repair
from virnucpro_backend.protocol import Channel
from virnucpro_backend.safetensors_file import open_new
from virnucpro_backend.typed_commands import CommandError, CommandStruct, Sha256, parse_typed

LINE_LETTERS = 80
LINES_AT_ONCE = 1 << 12

RowArray = npt.NDArray[np.uint32]


class ExtractInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An input; sha256: the required SHA-256 of its bytes; `repairs`: see `mended`."""

    path: Path
    sha256: Sha256
    repairs: tuple[Repair, ...] = ()


class ExtractCommand(CommandStruct, tag="extract", frozen=True):
    """rows_path: a file with the rows to write; out_path: the FASTA file to make. See `extract`."""

    inputs: tuple[ExtractInput, ...]
    rows_path: Path
    out_path: Path
    header_suffix: str = ""


def extract(
    inputs: Sequence[ExtractInput],
    rows: RowArray,
    out_path: Path,
    header_suffix: str = "",
) -> int:
    """Write the records of the given rows to `out_path` as FASTA.

    rows: uint32 [n], ascending, numbered over all inputs as in prepare. Header lines are those of
    `readable_header`, followed by a space and `header_suffix` if given; letters are copied, LINE_LETTERS per
    line; the repairs of an input are applied to both. The file is written atomically. Inputs after the last
    requested row are not read. Returns the number of records.

    Raises PrepareError: `input_changed` if the hash of an input differs, the errors of InputFile, `disk_full`
    and `folder_unwritable`.
    """
    with _whole_file(out_path) as out:
        writer = _RecordWriter(rows, out, header_suffix)
        for source in inputs:
            if writer.is_complete:
                break
            with InputFile(source.path) as file:
                for group in Survey(out_path.parent, repairs=source.repairs).groups(file):
                    writer.add(group)
                if file.sha256() != source.sha256:
                    raise PrepareError("input_changed")
        if not writer.is_complete:
            raise PrepareError("internal", reason=f"the inputs hold fewer records than row {int(rows[-1])}")
    return int(rows.size)


class _RecordWriter:
    """Counts the records of all inputs and writes the requested ones."""

    def __init__(self, rows: RowArray, out: BinaryIO, header_suffix: str) -> None:
        self._rows = rows.astype(np.int64)
        self._out = out
        self._header_end = f" {header_suffix}\n".encode() if header_suffix else b"\n"
        self._next_row = 0
        self._written = 0

    @property
    def is_complete(self) -> bool:
        return self._written == self._rows.size

    def add(self, group: SurveyedGroup) -> None:
        """Write the requested ones of the next records."""
        first, headers, letters = self._next_row, group.headers, group.records.letters
        self._next_row += headers.counts.size
        end = int(np.searchsorted(self._rows, self._next_row))
        origins = offsets_of(group.records.lengths)
        for place in (self._rows[self._written : end] - first).tolist():
            header = headers.text[int(headers.offsets[place]) : int(headers.offsets[place + 1])]
            self._out.write(b">" + header + self._header_end)
            last = int(origins[place + 1])
            for begin in range(int(origins[place]), last, LINES_AT_ONCE * LINE_LETTERS):
                piece = letters.read(begin, min(begin + LINES_AT_ONCE * LINE_LETTERS, last)).tobytes()
                lines = [piece[i : i + LINE_LETTERS] for i in range(0, len(piece), LINE_LETTERS)]
                self._out.write(b"\n".join(lines) + b"\n")
        self._written = end


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file and rename it on success. Removes the leftovers of killed processes."""
    for leftover in path.parent.glob(f"{escape(path.name)}.*.tmp"):
        leftover.unlink(missing_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with BufferedWriter(open_new(temporary)) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise writing_failed(error) from error
    finally:
        temporary.unlink(missing_ok=True)


def run_command(fields: Mapping[str, object]) -> int:
    """Carry out an `ExtractCommand` and return the number of records. Raises PrepareError."""
    try:
        command = cast(ExtractCommand, parse_typed(fields, ExtractCommand))
        rows = np.fromfile(command.rows_path, dtype="<u4").astype(np.uint32)
    except (CommandError, OSError) as error:
        raise halves_do_not_fit(error) from error
    return extract(command.inputs, rows, command.out_path, command.header_suffix)


def main() -> int:
    """Return exit status 0 after `extracted`, 1 after `extract_failed`."""
    # The engine closes standard input after its one command; it is still there.
    channel = Channel(on_eof=lambda: None)
    tell_of_reading(lambda: channel.emit("reading"))
    try:
        channel.emit("extracted", records=run_command(channel.only_command()))
        return 0
    except PrepareError as failure:
        error = failure
    except Exception as unexpected:
        error = failed_unexpectedly("internal", unexpected)
    channel.emit("extract_failed", code=error.code, values=error.values, file=error.file)
    return 1


if __name__ == "__main__":
    sys.exit(main())
