"""Reads `torch.save` files with `torch.load`, without running any code in them.

A pickle is a program: it names functions and calls them. Here the names that rebuild tensors are torch's own,
and every other one becomes an `Inert` record of its arguments and its state, which does nothing. So pickled
modules and files with argument objects can be read, whatever else they hold. `weights_only=True` has the same
aim, but its unpickler does not know protocol 4, in which the original tool's fork writes its batches.
"""

from __future__ import annotations

import collections
import pickle
import sys
import types
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.weights.errors import WeightsError, missing, unreadable

LARGEST_PICKLE = 8 << 20
"""In bytes. The pickle itself holds names and small numbers, 0.2 MB for ESM-2; tensors are outside it. One
byte of a pickle can take 77 bytes of memory."""

_BEFORE_1_6 = b"\x80\x02\x8a\x0a"
"""How files begin that PyTorch wrote before version 1.6."""


class Inert:
    """A record of an object whose class or function was not run."""

    qualified_name = ""
    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:
        """Keep the arguments, run nothing."""
        self = super().__new__(cls)
        self.args, self.state = args, None
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        """Called by the unpickler for each entry of a kind of dict."""

    def append(self, value: Any) -> None:
        """Called by the unpickler for each item of a kind of list."""

    def extend(self, values: Any) -> None:
        """Called by the unpickler for several items of a kind of list."""


class _Unpickler(pickle.Unpickler):
    """`torch.load` itself looks up the types of storages."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name in (
            "_rebuild_tensor_v2",
            "_rebuild_tensor",
            "_rebuild_parameter",
        ):
            return getattr(torch._utils, name)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        return type(name.rpartition(".")[2], (Inert,), {"qualified_name": f"{module}.{name}"})


def is_pickled(path: Path) -> bool:
    """Whether a file begins like a `torch.save` file, of today or of before PyTorch 1.6. Raises OSError."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", _BEFORE_1_6)


def read_pickled(path: Path, largest: int = LARGEST_PICKLE) -> Any:
    """Read the object in a `torch.save` file: dicts, lists, numbers, strings, tensors, `Inert` records.

    Tensors are memory-mapped: they are read only when used, and changing one does not change the file.
    Raises WeightsError (`model_missing`, `model_damaged`), also for a pickle of more than `largest`
    bytes.
    """
    try:
        _check_archive(path, largest)
        with warnings.catch_warnings():
            # torch warns before it hands a TorchScript archive to another loader, which runs code in it.
            warnings.simplefilter("error", UserWarning)
            return torch.load(
                path,
                map_location="cpu",
                pickle_module=types.SimpleNamespace(__name__="inert", Unpickler=_Unpickler),
                weights_only=False,
                mmap=True,
            )
    except FileNotFoundError as error:
        raise missing(path) from error
    except zipfile.BadZipFile as error:
        raise unreadable(path.name, "it is not a file of torch.save, or was cut short") from error
    except WeightsError:
        raise
    except MemoryError as error:
        raise unreadable(path.name, "reading it takes far more memory than such a file needs") from error
    # Any error that a hostile or damaged file causes means that the file is damaged.
    except Exception as error:
        raise unreadable(path.name, f"its content is damaged ({type(error).__name__}: {error})") from error


def _check_archive(path: Path, largest: int) -> None:
    """Refuse what torch would map wrongly (compressed tensors) or read without a limit."""
    with path.open("rb") as file:
        if file.read(4) == _BEFORE_1_6:
            raise unreadable(
                path.name,
                "it is in the format from before PyTorch 1.6. To convert it, load it with torch.load in "
                "Python and save what was loaded with torch.save",
            )
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    pickles = [entry for entry in entries if entry.filename.split("/")[1:] == ["data.pkl"]]
    if len(pickles) != 1:
        raise unreadable(path.name, "it is not a file of torch.save")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise unreadable(path.name, "its tensors are compressed")
    if pickles[0].file_size > largest:
        raise unreadable(path.name, "what it says about its tensors is too large")


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
