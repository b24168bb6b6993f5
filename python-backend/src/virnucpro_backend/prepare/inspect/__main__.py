"""`python -m virnucpro_backend.prepare.inspect`: what files hold, and what will happen to it.

Paths come on standard input, each as JSON text on a line of its own, or as arguments. One `inspected` event a
file, as soon as it is read, and `reading` every few seconds meanwhile. A file that can't be read is a
problem in its event, never an error of this program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virnucpro_backend.protocol import Channel

if TYPE_CHECKING:
    from virnucpro_backend.prepare.scanning.repairs import Repair


def main(arguments: list[str] | None = None) -> int:
    """Always 0: what is wrong with a file is in its event."""
    parser = argparse.ArgumentParser(prog="inspect", description="Say what sequence files hold.")
    parser.add_argument("--chunk-length", type=int, default=500, help="bases of a chunk (default 500)")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="instead of standard input")
    parser.add_argument("--repair", action="append", default=[], help="what is mended as files are read")
    options = parser.parse_args(arguments)
    channel = Channel()

    from virnucpro_backend.prepare.allocation import keep_freed_memory
    from virnucpro_backend.prepare.input_file import tell_of_reading

    keep_freed_memory()
    tell_of_reading(lambda: channel.emit("reading"))
    for path in options.paths or _paths_of(sys.stdin.buffer):
        channel.emit("inspected", **inspect_file(path, options.chunk_length, options.repair))
    return 0


def _paths_of(lines: Iterable[bytes]) -> list[Path]:
    # All before the first file is read: the writer must not have to wait.
    return [Path(json.loads(line)) for line in lines if line.strip()]


def inspect_file(path: Path, chunk_length: int, repairs: Collection[Repair] = ()) -> dict[str, Any]:
    """The fields of the `inspected` event (electron/contract/protocol/inspect.ts) of one file."""
    # Behind the channel, which must be open before NumPy is imported.
    from virnucpro_backend.prepare.failures import PrepareError
    from virnucpro_backend.prepare.input_file import InputFile
    from virnucpro_backend.prepare.inspect.inspection import Inspection

    inspection = Inspection(chunk_length, repairs)
    try:
        with InputFile(path) as source:
            inspection.read(source)
    except PrepareError as failure:
        inspection.failed(failure)
    return {"path": str(path), **inspection.fields()}


if __name__ == "__main__":
    sys.exit(main())
