"""Reads files written by `torch.save` without running anything that is in them.

A pickle is a program: it names functions and calls them. Here every name it may use is replaced. Tensors are
rebuilt by the code below; any other class or function becomes an `Inert` record of its name, its arguments
and its state, which does nothing. So whole pickled modules and files with argument objects can be read,
whatever else they hold.
"""

from __future__ import annotations

import collections
import math
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from virnucpro_backend.weights.errors import WeightsError, unreadable

LARGEST_PICKLE = 1 << 30
"""Bytes. The pickle itself holds names and small numbers; tensors are separate members of the file."""

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
    """What is left of an object whose class or function was not run."""

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
        """Called by the unpickler for some items of a list at once."""
        self.items.extend(values)


def read_pickled(path: Path) -> Any:
    """The object in a file of `torch.save`: dicts, lists, numbers, strings, tensors and `Inert` records.

    Tensors are memory-mapped: nothing is read before it is used, and changing one does not change the file.
    Raises WeightsError (`model_missing`, `weights_unreadable`).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _Reader(path, archive).read()
    except FileNotFoundError as error:
        raise WeightsError("model_missing", f"{path} is missing.", "Get the weights again.") from error
    except zipfile.BadZipFile as error:
        raise unreadable(path.name, "it is not a file of torch.save, or was cut short") from error
    except WeightsError:
        raise
    # Whatever a hostile or damaged pickle provokes, it is a damaged file.
    except Exception as error:
        raise unreadable(path.name, f"its content is damaged ({type(error).__name__}: {error})") from error


class _Reader:
    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        pickles = [name for name in archive.namelist() if name.split("/")[1:] == ["data.pkl"]]
        if len(pickles) != 1:
            raise unreadable(path.name, "it is not a file of torch.save")
        self._pickle = pickles[0]
        self._root = self._pickle.removesuffix("data.pkl")
        self._bytes = torch.from_numpy(np.memmap(path, dtype=np.uint8, mode="c"))
        self._storages: dict[str, Tensor] = {}

    def read(self) -> Any:
        if self._archive.getinfo(self._pickle).file_size > LARGEST_PICKLE:
            raise unreadable(self._path.name, "its pickle is too large")
        if self._root + "byteorder" in self._archive.namelist():
            order = self._archive.read(self._root + "byteorder")
            if order != b"little":
                raise unreadable(self._path.name, "it was written on a big-endian computer")
        with self._archive.open(self._pickle) as stream:
            return _Unpickler(stream, self).load()

    def storage(self, key: str, dtype: torch.dtype) -> Tensor:
        """The numbers of one storage, flat, memory-mapped."""
        known = self._storages.get(key)
        if known is None:
            member = self._archive.getinfo(f"{self._root}data/{key}")
            if member.compress_type != zipfile.ZIP_STORED:
                raise unreadable(self._path.name, "its tensors are compressed")
            # The local header repeats the name and has extra bytes of its own (the padding to 64 bytes).
            header = self._bytes[member.header_offset : member.header_offset + 30].numpy()
            name, extra = header[26:30].view("<u2").tolist()
            begin = member.header_offset + 30 + name + extra
            numbers = self._bytes[begin : begin + member.file_size].numpy()
            known = self._storages[key] = torch.from_numpy(numbers)
        return known.view(dtype) if known.numel() else torch.empty(0, dtype=dtype)


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: Any, reader: _Reader) -> None:
        super().__init__(stream)
        self._reader = reader

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

    def persistent_load(self, pid: Any) -> Tensor:
        kind, dtype, key, _location, _size = pid
        if kind != "storage" or not isinstance(dtype, torch.dtype):
            raise pickle.UnpicklingError("a storage of an unknown kind")
        return self._reader.storage(str(key), dtype)


def _rebuild_tensor(storage: Tensor, offset: int, size: Any, stride: Any, *_: Any) -> Tensor:
    # as_strided checks the bounds itself; a stride of 0 could still make a huge tensor out of one number.
    if math.prod(size) > storage.numel():
        raise pickle.UnpicklingError("a tensor larger than its storage")
    return storage.as_strided(tuple(size), tuple(stride), offset)


def _rebuild_parameter(tensor: Tensor, *_: Any) -> Tensor:
    return tensor
