"""Limits the memory and time that reading an untrusted file may take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from virnucpro_backend.weights.formats.pickles import LARGEST_PICKLE

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
