"""Tunes how freed memory returns to the system while many arrays of a few hundred kilobytes are made."""

from __future__ import annotations

import contextlib
import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def keep_freed_memory() -> None:
    """Let glibc keep freed arrays for the next ones instead of returning each to the kernel.

    Every block of input makes the same few dozen arrays again; without this, page faults take a tenth of the
    time. Does nothing if there is no `mallopt`.
    """
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, 64 << 20)
        mallopt(_M_TRIM_THRESHOLD, 128 << 20)
