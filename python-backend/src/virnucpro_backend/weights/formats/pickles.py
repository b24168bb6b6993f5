"""Reads `torch.save` files without running any code in them.

A pickle is a program: it names functions and calls them. Here every name is replaced. The code below rebuilds
tensors; any other class or function becomes an `Inert` record of its name, its arguments and its state, which
does nothing. So pickled modules and files with argument objects can be read, whatever else they hold. The
files are ZIP archives, or, in the format that PyTorch wrote before 1.6 and still supports, several pickles
followed by the tensors' bytes.
"""

from __future__ import annotations

import collections
import io
import math
import pickle
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from virnucpro_backend.weights.errors import WeightsError, unreadable

LARGEST_PICKLE = 8 << 20
"""In bytes. The pickle itself holds names and small numbers, 0.2 MB for ESM-2; tensors are outside it. One
byte of a pickle can take 77 bytes of memory."""

_BEFORE_ZIP_MAGIC = 0x1950A86A20F9469CFC6C
_BEFORE_ZIP_PROTOCOL = 1001
_BEFORE_ZIP_BEGINNING = b"\x8a\x0a" + _BEFORE_ZIP_MAGIC.to_bytes(10, "little")
"""The pickled magic number, which is preceded only by the pickle's protocol."""

_STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


class Inert:
    """A record of an object whose class or function was not run."""

    qualified_name = ""
    args: tuple[Any, ...]
    state: Any
    items: list[Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:
        """Keep the arguments, run nothing."""
        self = super().__new__(cls)
        self.args, self.state, self.items = args, None, []
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items.append((key, value))

    def append(self, value: Any) -> None:
        """Called by the unpickler for each item of a list."""
        self.items.append(value)

    def extend(self, values: Any) -> None:
        """Called by the unpickler for several items of a list."""
        self.items.extend(values)


def is_pickled(path: Path) -> bool:
    """Whether a file begins like a `torch.save` file of either format. Raises OSError."""
    beginning = _beginning(path)
    return beginning.startswith(b"PK\x03\x04") or _is_before_zip(beginning)


def read_pickled(path: Path, largest: int = LARGEST_PICKLE) -> Any:
    """Read the object in a `torch.save` file: dicts, lists, numbers, strings, tensors, `Inert` records.

    Tensors are memory-mapped: they are read only when used, and changing one does not change the file.
    Raises WeightsError (`model_missing`, `weights_unreadable`), also for a pickle of more than `largest`
    bytes.
    """
    try:
        if _is_before_zip(_beginning(path)):
            return _BeforeZip(path, largest).read()
        with zipfile.ZipFile(path) as archive:
            return _Reader(path, archive, largest).read()
    except FileNotFoundError as error:
        raise WeightsError("model_missing", f"{path} is missing.", "Get the weights again.") from error
    except zipfile.BadZipFile as error:
        raise unreadable(path.name, "it is not a file of torch.save, or was cut short") from error
    except WeightsError:
        raise
    except MemoryError as error:
        raise unreadable(path.name, "reading it takes far more memory than such a file needs") from error
    # Any error that a hostile or damaged pickle causes means that the file is damaged.
    except Exception as error:
        raise unreadable(path.name, f"its content is damaged ({type(error).__name__}: {error})") from error


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def _is_before_zip(beginning: bytes) -> bool:
    return beginning[:1] == b"\x80" and beginning[2:14] == _BEFORE_ZIP_BEGINNING


class _Storages(Protocol):
    """Provides an unpickler with the numbers of tensors."""

    def storage(self, key: str, dtype: torch.dtype, size: int) -> Tensor:
        """Return the numbers of one storage as a flat tensor."""
        ...


class _BeforeZip:
    """A file of five pickles (magic number, version, system, object, storage keys), then the storages.

    The beginning of a storage is known only after the object that names it has been read. So the object is
    read twice, first with tensors that have a size but no numbers.
    """

    def __init__(self, path: Path, largest: int) -> None:
        self._path = path
        self._largest = largest
        self._bytes = torch.from_numpy(np.memmap(path, dtype=np.uint8, mode="c"))
        self._sizes: dict[str, tuple[torch.dtype, int]] = {}
        self._begins: dict[str, int] | None = None

    def read(self) -> Any:
        with self._path.open("rb", buffering=0) as file:
            stream = _bounded(file, self._largest, self._path.name)
            magic, version, system = (_Unpickler(stream, self).load() for _ in range(3))
            if (magic, version) != (_BEFORE_ZIP_MAGIC, _BEFORE_ZIP_PROTOCOL):
                raise unreadable(self._path.name, "it is not a file of torch.save")
            if not isinstance(system, dict) or system.get("little_endian") is not True:
                raise unreadable(self._path.name, "it was written on a big-endian computer")
            place = stream.tell()
            _Unpickler(stream, self).load()
            keys = _Unpickler(stream, self).load()
            self._begins = self._places([str(key) for key in keys], stream.tell())
            stream.seek(place)
            return _Unpickler(stream, self).load()

    def _places(self, keys: list[str], begin: int) -> dict[str, int]:
        """Find where the numbers of each storage begin; its count, as 8 bytes, precedes them."""
        begins = {}
        for key in keys:
            dtype, size = self._sizes[key]
            count = int.from_bytes(self._bytes[begin : begin + 8].numpy().tobytes(), "little")
            begins[key] = begin + 8
            begin += 8 + size * dtype.itemsize
            if count != size or begin > len(self._bytes):
                raise unreadable(self._path.name, "it was cut short")
        return begins

    def storage(self, key: str, dtype: torch.dtype, size: int) -> Tensor:
        if self._begins is None:
            self._sizes[key] = (dtype, size)
            return torch.empty(size, dtype=dtype, device="meta")
        if size == 0:
            return torch.empty(0, dtype=dtype)
        begin = self._begins[key]
        # PyTorch needs numbers at a multiple of their size; copy them if they are not.
        numbers = self._bytes[begin : begin + size * dtype.itemsize]
        aligned = numbers if begin % dtype.itemsize == 0 else numbers.clone()
        return torch.from_numpy(aligned.numpy()).view(dtype)


class _Reader:
    def __init__(self, path: Path, archive: zipfile.ZipFile, largest: int) -> None:
        self._path = path
        self._archive = archive
        self._largest = largest
        pickles = [name for name in archive.namelist() if name.split("/")[1:] == ["data.pkl"]]
        if len(pickles) != 1:
            raise unreadable(path.name, "it is not a file of torch.save")
        self._pickle = pickles[0]
        self._root = self._pickle.removesuffix("data.pkl")
        self._bytes = torch.from_numpy(np.memmap(path, dtype=np.uint8, mode="c"))
        self._storages: dict[str, Tensor] = {}

    def read(self) -> Any:
        if self._root + "byteorder" in self._archive.namelist():
            with self._archive.open(self._root + "byteorder") as order:
                if order.read(7) != b"little":
                    raise unreadable(self._path.name, "it was written on a big-endian computer")
        with self._archive.open(self._pickle) as stream:
            return _Unpickler(_bounded(stream, self._largest, self._path.name), self).load()

    def storage(self, key: str, dtype: torch.dtype, _size: int) -> Tensor:
        """Return the numbers of one storage as a flat, memory-mapped tensor."""
        known = self._storages.get(key)
        if known is None:
            member = self._archive.getinfo(f"{self._root}data/{key}")
            if member.compress_type != zipfile.ZIP_STORED:
                raise unreadable(self._path.name, "its tensors are compressed")
            # The local header repeats the name and has its own extra bytes (the padding to 64 bytes).
            header = self._bytes[member.header_offset : member.header_offset + 30].numpy()
            name, extra = header[26:30].view("<u2").tolist()
            begin = member.header_offset + 30 + name + extra
            numbers = self._bytes[begin : begin + member.file_size].numpy()
            known = self._storages[key] = torch.from_numpy(numbers)
        return known.view(dtype) if known.numel() else torch.empty(0, dtype=dtype)


def _bounded(stream: IO[bytes], most: int, name: str) -> io.BufferedReader:
    """Wrap a stream to raise a WeightsError, with the file's name, beyond `most` decompressed bytes."""
    return io.BufferedReader(_Bounded(stream, most, name), 1 << 16)


class _Bounded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], most: int, name: str) -> None:
        self._stream = stream
        self._most = most
        self._name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        if self._stream.tell() > self._most:
            raise unreadable(self._name, "what it says about its tensors is too large")
        block = self._stream.read(min(len(buffer), 1 << 20))
        buffer[: len(block)] = block
        return len(block)


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: IO[bytes], storages: _Storages) -> None:
        super().__init__(stream)
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return _STORAGES[name]
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return _rebuild_tensor
        if module == "torch._utils" and name == "_rebuild_parameter":
            return _rebuild_parameter
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        return type(name.rpartition(".")[2], (Inert,), {"qualified_name": f"{module}.{name}"})

    def persistent_load(self, pid: Any) -> Any:
        # The old format also stores the source code of a module's class.
        if pid[0] == "module":
            return pid[1]
        kind, dtype, key, _location, size, *view = pid
        if kind != "storage" or not isinstance(dtype, torch.dtype) or any(part is not None for part in view):
            raise pickle.UnpicklingError("a storage of an unknown kind")
        return self._storages.storage(str(key), dtype, int(size))


def _rebuild_tensor(storage: Tensor, offset: int, size: Any, stride: Any, *_: Any) -> Tensor:
    # as_strided checks the bounds, but a stride of 0 could make a huge tensor from one number.
    if math.prod(size) > storage.numel():
        raise pickle.UnpicklingError("a tensor larger than its storage")
    return storage.as_strided(tuple(size), tuple(stride), offset)


def _rebuild_parameter(tensor: Tensor, *_: Any) -> Tensor:
    return tensor


_SLACK_BYTES = 128 << 20
_MEMORY_OF_A_BYTE = 4
"""Memory per byte of a regular pickle; lists of Python floats, 9 bytes each, take the most."""
_CPU_SECONDS = 60


@contextmanager
def limited_reading(path: Path, largest: int = LARGEST_PICKLE) -> Iterator[None]:
    """Limit the resources for reading a file with a pickle of at most `largest` bytes.

    On Linux the memory is limited to what a regular file needs; beyond it, reading raises MemoryError. On
    Linux and macOS the processor time is limited to a minute; beyond it, the system ends the process. The
    limits apply to the entire process, so its other threads must be idle.
    """
    if sys.platform == "win32":
        yield
        return
    import resource

    before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
    size = path.stat().st_size
    wanted = {resource.RLIMIT_CPU: int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + _CPU_SECONDS}
    if sys.platform == "linux":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        # The entire file is mapped.
        need = size + _MEMORY_OF_A_BYTE * min(size, largest) + _SLACK_BYTES
        wanted[resource.RLIMIT_AS] = used + need
    try:
        for kind, limit in wanted.items():
            allowed = [bound for bound in (limit, *before[kind]) if bound != resource.RLIM_INFINITY]
            resource.setrlimit(kind, (min(allowed), before[kind][1]))
        yield
    finally:
        for kind, limits in before.items():
            resource.setrlimit(kind, limits)
