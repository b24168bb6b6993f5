"""A file that is being downloaded: which of its ranges are on the disk, also after the program was ended."""

from __future__ import annotations

import errno
import hashlib
import json
import threading
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from types import TracebackType

from virnucpro_backend.weights.errors import WeightsError

RECORD_BYTES = 8 << 20
"""A range is recorded when it has this many bytes, and when its connection ends: what a killed process
loses."""
_BLOCK = 1 << 20


class PartialFile:
    """`target.part`, with holes, and `target.part.ranges`: a line for each range that has arrived, with the
    SHA-256 of its bytes. Safe for several threads that write different ranges."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._record = target.with_name(f"{target.name}.part.ranges")
        self._ranges: list[tuple[int, int]] = []
        self._lock = threading.Lock()

    def restore(self, progress: Callable[[int, int | None], None] = lambda done, total: None) -> None:
        """Take over what an earlier process has left, as far as the bytes on the disk are those that arrived.

        `progress` gets the bytes read and those recorded. Raises OSError.
        """
        recorded = recorded_ranges(self._record) if self.path.is_file() else []
        total, read = sum(end - begin for begin, end, _ in recorded), 0
        good: list[tuple[int, int, str]] = []
        if recorded:
            with open(self.path, "rb", buffering=0) as file:
                for begin, end, sha256 in recorded:
                    if _range_sha256(file, begin, end) == sha256:
                        good.append((begin, end, sha256))
                    read += end - begin
                    progress(read, total)
        if good:
            self._rewrite(good)
        else:
            self.clear()
        self._ranges = [(begin, end) for begin, end, _ in good]

    @property
    def done(self) -> int:
        """Bytes that have arrived and are recorded."""
        with self._lock:
            return sum(end - begin for begin, end in self._ranges)

    def gaps(self, size: int | None) -> list[tuple[int, int | None]]:
        """What is missing of `size` bytes, as begin and end; the last end is None where the size isn't
        known."""
        missing: list[tuple[int, int | None]] = []
        at = 0
        with self._lock:
            ranges = sorted(self._ranges)
        for begin, end in ranges:
            if begin > at:
                missing.append((at, begin))
            at = max(at, end)
        if size is None or at < size:
            missing.append((at, size))
        return missing

    def clear(self) -> None:
        """Forget and delete all of it. Raises OSError."""
        with self._lock:
            self._ranges = []
            self._record.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)

    def become(self, target: Path) -> None:
        """Give the complete file its name. Raises OSError."""
        self.path.replace(target)
        self._record.unlink(missing_ok=True)

    def writer(self, begin: int) -> RangeWriter:
        """For the bytes from `begin` on. Raises OSError."""
        with self._lock:
            self.path.touch()
        return RangeWriter(self, begin)

    def record(self, begin: int, end: int, sha256: str) -> None:
        """Remember a range whose bytes were written. Raises OSError."""
        line = json.dumps({"begin": begin, "end": end, "sha256": sha256})
        with self._lock:
            with open(self._record, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")
            self._ranges.append((begin, end))

    def _rewrite(self, ranges: list[tuple[int, int, str]]) -> None:
        lines = [json.dumps({"begin": b, "end": e, "sha256": s}) for b, e, s in ranges]
        temporary = self._record.with_name(f"{self._record.name}.tmp")
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temporary.replace(self._record)


class RangeWriter:
    """Writes bytes one after the other. `position`: where the next one goes."""

    def __init__(self, part: PartialFile, begin: int) -> None:
        self._part = part
        self._begin = self.position = begin
        self._digest = hashlib.sha256()
        self._file = open(part.path, "r+b", buffering=0)  # noqa: SIM115, closed in __exit__
        self._file.seek(begin)

    def write(self, block: bytes) -> None:
        """Raises WeightsError (`disk_full`) and OSError."""
        try:
            written = 0
            while written < len(block):
                written += self._file.write(memoryview(block)[written:]) or 0
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise WeightsError(
                "disk_full",
                f"The disk with {self._part.path.parent} is full.",
                "Free some space, then start again: it goes on where it stopped.",
            ) from error
        self._digest.update(block)
        self.position += len(block)
        if self.position - self._begin >= RECORD_BYTES:
            self._record()

    def __enter__(self) -> RangeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._record()

    def _record(self) -> None:
        if self.position > self._begin:
            self._part.record(self._begin, self.position, self._digest.hexdigest())
            self._begin, self._digest = self.position, hashlib.sha256()


def recorded_ranges(record: Path) -> list[tuple[int, int, str]]:
    """Begin, end and SHA-256 of the ranges in a `.part.ranges`, without overlap; a line that was cut off
    counts for nothing."""
    ranges: list[tuple[int, int, str]] = []
    try:
        lines = record.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    for line in lines:
        try:
            entry = json.loads(line)
            ranges.append((int(entry["begin"]), int(entry["end"]), str(entry["sha256"])))
        except (ValueError, KeyError, TypeError):
            continue
    apart: list[tuple[int, int, str]] = []
    for begin, end, sha256 in sorted(ranges):
        if 0 <= begin < end and (not apart or begin >= apart[-1][1]):
            apart.append((begin, end, sha256))
    return apart


def _range_sha256(file: FileIO, begin: int, end: int) -> str:
    digest = hashlib.sha256()
    file.seek(begin)
    left = end - begin
    while left > 0:
        block = file.read(min(_BLOCK, left))
        if not block:
            break
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()
