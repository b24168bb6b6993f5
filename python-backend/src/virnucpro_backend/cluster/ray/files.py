"""Files on their way between the run's folder and a node, in pieces through Ray's object store."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import uuid
from pathlib import Path

from virnucpro_backend.safetensors_file import make_real_folders, open_new, sync_folder
from virnucpro_backend.weights.folder_lock import take_lock

PIECE_BYTES = 8 << 20
"""Of parts, scores and embeddings: each device has at most one piece on its way."""

MODEL_PIECE_BYTES = 64 << 20
"""Of weights: each node has at most one piece on its way, and nodes that are as far share it."""


class DamagedFileError(Exception):
    """A file that arrived with other bytes than were sent."""


def write_piece(path: Path, offset: int, piece: bytes) -> None:
    """Put a piece of a file where it belongs; the first starts the file over. Raises OSError."""
    with open(path, "r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(piece)


class ArrivingFile:
    """A file of the run that comes in pieces, one after the other, and is there whole or not at all."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        make_real_folders(path.parent.parent, path.parent)
        self._path = path
        self._temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        self._file = open_new(self._temporary)
        self._digest = hashlib.sha256()

    def add(self, piece: bytes) -> None:
        """Append a piece. Raises OSError."""
        self._digest.update(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def finish(self, sha256: str) -> None:
        """Give the file its name, if these are its bytes. Raises DamagedFileError and OSError."""
        if self._digest.hexdigest() != sha256:
            raise DamagedFileError(f"{self._path.name} arrived with other bytes than the worker wrote.")
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._temporary, self._path)
        sync_folder(self._path.parent)

    def discard(self) -> None:
        """Remove what has arrived; after `finish` there is nothing to remove."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


class Scratch:
    """A folder of its own for one worker on a node, below the node's folder for temporary files (TMPDIR).

    It is removed at the end; what a killed process left is removed by the next one there.
    """

    def __init__(self, base: Path | None = None) -> None:
        """Raises OSError."""
        self._base = base or Path(tempfile.gettempdir()) / f"virnucpro-ray-{os.getuid()}"
        self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._base.is_symlink() or self._base.stat().st_uid != os.getuid():
            raise PermissionError(f"{self._base} belongs to somebody else")
        self._sweep()
        self.folder, self._lock = _new_folder(self._base)
        self.folder.mkdir()

    def path(self, name: str) -> Path:
        """Where a file of this name lies; the folder for it is made. Raises ValueError for one elsewhere."""
        path = self.folder / name
        if ".." in path.parts or not path.is_relative_to(self.folder):
            raise ValueError(f"{name!r} leads out of the scratch folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, offset: int, piece: bytes) -> None:
        """Put a piece of a file where it belongs; again if it comes again. Raises OSError."""
        write_piece(self.path(name), offset, piece)

    def read(self, name: str, offset: int) -> bytes:
        """A piece of a file; an empty one at its end. Raises OSError."""
        with open(self.path(name), "rb", buffering=0) as file:
            file.seek(offset)
            return file.read(PIECE_BYTES)

    def drop(self, names: list[str]) -> None:
        """Remove files, those that are there."""
        for name in names:
            self.path(name).unlink(missing_ok=True)

    def empty(self) -> None:
        """Remove what a worker that has ended leaves."""
        for entry in self.folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        _lock_of(self.folder).unlink(missing_ok=True)
        os.close(self._lock)

    def _sweep(self) -> None:
        for path in self._base.glob("*.lock"):
            try:
                lock = os.open(path, os.O_RDWR)
            except OSError:
                continue  # Removed meanwhile.
            try:
                take_lock(lock)
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                path.unlink(missing_ok=True)
            except OSError:
                continue  # It is in use.
            finally:
                os.close(lock)


def _new_folder(base: Path) -> tuple[Path, int]:
    """A name for a folder, and its lock file, open and locked."""
    while True:
        folder = base / uuid.uuid4().hex
        lock = os.open(_lock_of(folder), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            take_lock(lock)
            # Who sweeps may have taken it for one that was left, before it was locked.
            if _lock_of(folder).exists():
                return folder, lock
        except OSError:
            pass
        os.close(lock)


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")
