"""How much of this computer the reading of somebody else's file may take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from virnucpro_backend.weights.formats.pickles import LARGEST_PICKLE

_SLACK_BYTES = 128 << 20
_MEMORY_OF_A_BYTE = 4
"""What a byte of an honest pickle takes: most for lists of Python's floats, 9 bytes each."""
_CPU_SECONDS = 60


@contextmanager
def limited_reading(path: Path, largest: int = LARGEST_PICKLE) -> Iterator[None]:
    """Limit what the reading of a file with a pickle of at most `largest` bytes may take.

    On Linux no more memory than an honest file needs: beyond it, reading raises MemoryError. On Linux and
    macOS a minute of processor time: beyond it, the system ends the process. The limits are those of the
    process, so this is only for one whose other threads do nothing.
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
        # The file itself is mapped as a whole.
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
