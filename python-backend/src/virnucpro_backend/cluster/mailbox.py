"""Lines between two computers through nothing but files on a shared file system.

A file has one writer and one reader. Over NFS a reader sees what was written before it opened the file, so it
opens it again each time; a writer has its bytes on the server when `fsync` returns. Neither asks for locks,
for times of the two computers' clocks, or for a rename to be seen at once.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEGMENT_BYTES = 4 << 20
"""A stream goes on in another file after so many; the reader removes a file that it has read."""

UNREAD_SEGMENTS = 4
"""A writer that is so far ahead of its reader is to wait."""

BLOCK_BYTES = 2 << 20
"""Most that is read at once."""

_CONTINUED = b"continued"
"""Last line of a file that is followed by another; no line of JSON is like it."""


class LineTooLongError(Exception):
    """A stream holds a line of more than the reader takes at once; nothing behind it can be read."""


class LineWriter:
    """Writes a stream's lines into `folder`, which only this user can enter. Not safe for several threads."""

    def __init__(self, folder: Path, name: str, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder = folder
        self._name = name
        self._segment_bytes = segment_bytes
        self._segment = 1
        self._written = 0
        self._block = b""
        """On its way to the disk: once tried, it stays as it is."""
        self._pending = b""
        make_private(folder)

    def write(self, lines: Sequence[bytes]) -> bool:
        """Append lines without their ends. False where they couldn't be written, such as with a full disk:
        they are kept, and come first at the next call, also of `write([])`.

        Raises ValueError for a line that contains a line end.
        """
        if any(b"\n" in line for line in lines):
            raise ValueError("a line has no line end within it")
        self._pending += b"".join(line + b"\n" for line in lines)
        return self._write_block() and (not self._pending or self._write_block())

    def _write_block(self) -> bool:
        if not self._block:
            last = self._written + len(self._pending) >= self._segment_bytes
            self._block = self._pending + (_CONTINUED + b"\n" if last else b"")
            self._pending = b""
        if not self._block:
            return True
        try:
            # At a given place: what failed half-way, and may have been read, is written again over itself.
            _write_at(segment_path(self._folder, self._name, self._segment), self._block, self._written)
        except OSError:
            return False
        if self._block.endswith(_CONTINUED + b"\n"):
            self._segment += 1
            self._written = 0
        else:
            self._written += len(self._block)
        self._block = b""
        return True

    @property
    def is_ahead(self) -> bool:
        """Whether so much is unread, or not on the disk yet, that the writer should wait."""
        if len(self._block) + len(self._pending) > BLOCK_BYTES:
            return True
        oldest = self._segment - UNREAD_SEGMENTS
        return oldest > 0 and segment_path(self._folder, self._name, oldest).exists()


class LineReader:
    """Reads a stream's lines, in order, each once."""

    def __init__(self, folder: Path, name: str, block_bytes: int = BLOCK_BYTES) -> None:
        self._folder = folder
        self._name = name
        self._block_bytes = block_bytes
        self._segment = 1
        self._read = 0

    def read(self) -> list[bytes]:
        """The whole lines that are there and have not been read, up to a block of them; none where the file
        system doesn't answer. Raises LineTooLongError.
        """
        path = segment_path(self._folder, self._name, self._segment)
        try:
            if self._read == 0:
                os.listdir(
                    self._folder
                )  # Over NFS, a file that was looked for in vain stays missing otherwise.
            fd = os.open(path, os.O_RDONLY | _NO_LINK)
            try:
                block = os.pread(fd, self._block_bytes, self._read)
            finally:
                os.close(fd)
        except OSError:
            return []
        # Over NFS, zeros stand for what has been written and has not arrived.
        full = len(block) == self._block_bytes
        block = block.partition(b"\0")[0]
        whole, end, _ = block.rpartition(b"\n")
        if not end:
            if full and len(block) == self._block_bytes:
                raise LineTooLongError(f"{path} has a line of more than {self._block_bytes} bytes")
            return []
        self._read += len(whole) + 1
        lines = whole.split(b"\n")
        if lines[-1] == _CONTINUED:
            lines.pop()
            with contextlib.suppress(OSError):
                path.unlink()
            self._segment += 1
            self._read = 0
            return lines or self.read()
        return lines


@dataclass(frozen=True)
class Sign:
    """What a pool says of itself to all its nodes: `session` counts the pool processes that there have been
    for this folder, `beat` goes up while this one lives, and `closed` is its last word.
    """

    session: int
    beat: int
    closed: bool


class SignFile:
    """A small file that is written over again and again, by one pool process at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "pool"

    def write(self, sign: Sign) -> None:
        """Make it what the nodes see. Raises OSError."""
        # Of one length always, and in place: a rename would take its file from under a reader over NFS.
        text = f"{sign.session:08d} {sign.beat:010d} {'closed' if sign.closed else 'open  '}\n"
        _write_at(self._path, text.encode("ascii"), 0)

    def age(self, beside: Path) -> float:
        """Seconds since it was written, by the file system's own clock; 0 where it is not there. Makes the
        folder `beside` for it. Raises OSError.
        """
        make_private(beside)
        now = beside / "now"
        _write_at(now, b"now\n", 0)
        try:
            return now.stat().st_mtime - self._path.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def read(self) -> Sign | None:
        """What was written last; None where there is nothing, or nothing whole."""
        try:
            os.listdir(self._path.parent)
            fd = os.open(self._path, os.O_RDONLY | _NO_LINK)
            try:
                words = os.pread(fd, 100, 0).decode("ascii").split()
            finally:
                os.close(fd)
            session, beat, state = words
            return Sign(int(session), int(beat), state == "closed")
        except (OSError, ValueError):
            return None


def make_private(folder: Path) -> None:
    """Make a folder, with those above it, and see to it that only this user can enter. Raises OSError, and
    PermissionError for one that is another user's or a link.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.is_symlink():
        folder.chmod(0o700)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Raises PermissionError for a folder in which another user could leave commands, OSError for none."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise PermissionError(f"{folder} is not a folder")
    owner = getattr(os, "geteuid", lambda: facts.st_uid)()
    if facts.st_uid != owner or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder} can be written by others")


def segment_path(folder: Path, name: str, number: int) -> Path:
    """The file with the `number`th piece of a stream; the first is 1."""
    return folder / f"{name}-{number:06d}.jsonl"


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def _write_at(path: Path, data: bytes, offset: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | _NO_LINK, 0o600)
    try:
        done = 0
        while done < len(data):
            done += os.pwrite(fd, data[done:], offset + done)
        os.fsync(fd)
    finally:
        os.close(fd)
