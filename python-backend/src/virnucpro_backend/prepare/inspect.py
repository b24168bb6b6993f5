"""`python -m virnucpro_backend.prepare.inspect PATH...`: what files hold, and what will happen to it.

One `inspected` event a file, as soon as it is read. A file that can't be read is a problem in its event,
never an error of this program.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from virnucpro_backend.protocol import Channel


def main(arguments: list[str] | None = None) -> int:
    """Always 0: what is wrong with a file stands in its event."""
    parser = argparse.ArgumentParser(prog="inspect", description="Say what sequence files hold.")
    parser.add_argument("--chunk-length", type=int, default=500, help="bases of a chunk (default 500)")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    options = parser.parse_args(arguments)
    channel = Channel()

    from virnucpro_backend.prepare.allocation import keep_freed_memory

    keep_freed_memory()
    for path in options.paths:
        channel.emit("inspected", **inspect_file(path, options.chunk_length))
    return 0


def inspect_file(path: Path, chunk_length: int) -> dict[str, Any]:
    """The fields of the `inspected` event (electron/contract/protocol/inspect.ts) of one file."""
    # Behind the channel, which must be open before NumPy is imported.
    from virnucpro_backend.prepare.failures import PrepareError
    from virnucpro_backend.prepare.input_file import InputFile
    from virnucpro_backend.prepare.inspection import Inspection

    inspection = Inspection(chunk_length)
    try:
        with InputFile(path) as source:
            inspection.read(source)
    except PrepareError as failure:
        inspection.failed(failure)
    return {"path": str(path), **inspection.fields()}


if __name__ == "__main__":
    sys.exit(main())
