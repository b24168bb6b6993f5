"""Write safetensors files atomically, and return the SHA-256 of their bytes.

The header is written here rather than by the `safetensors` package, whose metadata come out in random order,
because the same arrays must give the same bytes. Reading goes through the package.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

_DTYPE_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}
_HEADER_ALIGNMENT = 8


@dataclass(frozen=True)
class WrittenFile:
    """A file that is safely on disk, with its SHA-256 (64 hexadecimal digits) and its size in bytes."""

    sha256: str
    size: int


def write_safetensors(
    path: Path, arrays: Mapping[str, npt.NDArray[np.generic]], metadata: Mapping[str, str] | None = None
) -> WrittenFile:
    """Write arrays to `path`: write a temporary file beside it, fsync, rename, and fsync the folder.

    The bytes depend only on the metadata and on the arrays' names, shapes and values. Tensors are sorted by
    falling item size, then name, so all are aligned. `path` has either its old content or all of the new.

    Raises OSError when the folder can't be written or the disk is full (the temporary file is removed), and
    ValueError for a dtype that safetensors and NumPy don't share.
    """
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header = _header(ordered, metadata)
    digest = hashlib.sha256()
    size = 0
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open_new(temporary) as file:
            for piece in [memoryview(header), *(_little_endian_bytes(array) for _, array in ordered)]:
                digest.update(piece)
                size += len(piece)
                _write_all(file.fileno(), piece)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return WrittenFile(digest.hexdigest(), size)


_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Don't follow links, and don't block on a pipe without a writer. Windows has no such flags."""


class NotOrdinaryError(OSError):
    """A file or folder of a run is a link or a special file, which could lead outside the run."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ELOOP, "it is a link, or no ordinary file or folder", str(path))


def open_new(path: Path) -> FileIO:
    """Open a new file for writing, after removing what an earlier process left under this name. A link is
    removed, its target stays. Raises OSError."""
    path.unlink(missing_ok=True)
    return FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o666), "w")


def read_ordinary(path: Path) -> bytes:
    """Read all bytes of an ordinary file. Raises NotOrdinaryError for a link or a pipe, and OSError."""
    if _leads_elsewhere(path):
        raise NotOrdinaryError(path)
    with FileIO(os.open(path, os.O_RDONLY | _NO_LINKS), "r") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotOrdinaryError(path)
        return file.readall()


def make_real_folders(*folders: Path) -> None:
    """Make folders, outer before inner. Raises NotOrdinaryError if one exists as a link or as a file.

    Their parent folder must exist, or OSError is raised: a run that was moved must not start again at its old
    place.
    """
    for folder in folders:
        if _leads_elsewhere(folder) or (folder.exists() and not folder.is_dir()):
            raise NotOrdinaryError(folder)
        folder.mkdir(exist_ok=True)


def _leads_elsewhere(path: Path) -> bool:
    """Whether the path is a symbolic link or a Windows junction."""
    is_junction = getattr(os.path, "isjunction", None)  # from Python 3.12 on
    return path.is_symlink() or bool(is_junction and is_junction(path))


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits. Raises OSError when it can't be read."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _header(ordered: list[tuple[str, npt.NDArray[np.generic]]], metadata: Mapping[str, str] | None) -> bytes:
    entries: dict[str, object] = {}
    if metadata:
        entries["__metadata__"] = dict(sorted(metadata.items()))
    begin = 0
    for name, array in ordered:
        dtype = _DTYPE_NAMES.get(array.dtype.name)
        if dtype is None:
            raise ValueError(f"safetensors has no type for {array.dtype} ({name})")
        end = begin + array.nbytes
        entries[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % _HEADER_ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _little_endian_bytes(array: npt.NDArray[np.generic]) -> memoryview[int]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return little.reshape(-1).view(np.uint8).data


def _write_all(fd: int, piece: memoryview[int]) -> None:
    while piece:
        piece = piece[os.write(fd, piece) :]


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
