"""Lets one process at a time change the weights, as a window and a terminal may want the same file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from virnucpro_backend.weights.errors import WeightsError


@contextmanager
def changing(weights: Path) -> Iterator[None]:
    """Hold the lock of a folder of weights; the system releases it when the process ends.

    Raises WeightsError (`busy`) and OSError.
    """
    weights.mkdir(parents=True, exist_ok=True)
    file = os.open(weights / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        try:
            take_lock(file)
        except OSError as error:
            raise WeightsError(
                "busy",
                "Weights are being fetched or imported in another window or terminal.",
                "Wait for it to end, or stop it there.",
            ) from error
        yield
    finally:
        os.close(file)


def take_lock(file: int) -> None:
    """Lock an open file until it is closed. Raises OSError immediately if another process has the lock."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
