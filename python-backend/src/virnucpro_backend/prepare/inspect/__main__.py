"""`python -m virnucpro_backend.prepare.inspect`: report what files hold and what a run will do with them.

Paths come on standard input, each as a JSON string on its own line, or as arguments. Each file gives one
`inspected` event as soon as it has been read; meanwhile `reading` is sent every few seconds. A file that
can't be read is a problem in its event, never an error of this program.
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
    """Always return 0: problems with a file are in its event."""
    parser = argparse.ArgumentParser(prog="inspect", description="Report what sequence files hold.")
    parser.add_argument("--chunk-length", type=int, default=500, help="bases of a chunk (default 500)")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="instead of standard input")
    parser.add_argument("--repair", action="append", default=[], help="repair made while files are read")
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
    # Read all lines before the first file, so that the writer need not wait.
    return [Path(json.loads(line)) for line in lines if line.strip()]


def inspect_file(path: Path, chunk_length: int, repairs: Collection[Repair] = ()) -> dict[str, Any]:
    """Return the fields of the `inspected` event (electron/contract/protocol/prepare.ts) of one file."""
    # Imported here because the channel must be open before NumPy is imported.
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
