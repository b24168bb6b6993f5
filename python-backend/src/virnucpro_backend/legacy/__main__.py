"""`python -m virnucpro_backend.legacy`: import embeddings of the original tool or of its fork.

Standard input holds one `ImportCommand` as a line. The answer is a line on standard output: `imported` with
the fields of an ImportReport, `import_refused` with message and next_step, or `import_failed` with code and
values. Before it, `reading` is sent every few seconds, and with the path before each file with embeddings.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast

import msgspec

from virnucpro_backend.prepare.failures import (
    PrepareError,
    failed_unexpectedly,
    halves_do_not_fit,
    writing_failed,
)
from virnucpro_backend.prepare.input_file import tell_of_reading
from virnucpro_backend.protocol import Channel
from virnucpro_backend.typed_commands import CommandError, CommandStruct, Positive, parse_typed


class ImportCommand(CommandStruct, tag="import_legacy", frozen=True):
    """into: the folder to write, in the run's `work`; for the other fields see `importing.import_folder`."""

    folder: Path
    inputs: Annotated[tuple[Path, ...], msgspec.Meta(min_length=1)]
    chunk_length: Positive
    model_folder: Path
    into: Path


def main() -> int:
    """Return exit status 0 after `imported`, 1 otherwise."""
    # The engine closes standard input after its one command; it is still there.
    channel = Channel(on_eof=lambda: None)
    from virnucpro_backend.legacy.importing import ImportFailedError, import_folder
    from virnucpro_backend.weights.errors import WeightsError
    from virnucpro_backend.weights.model_json import read_model_json

    tell_of_reading(lambda: channel.emit("reading"))
    try:
        command = cast(ImportCommand, parse_typed(channel.only_command(), ImportCommand))
        model = read_model_json(command.model_folder)
        report = import_folder(
            command.folder,
            command.inputs,
            command.chunk_length,
            model,
            command.into,
            lambda path: channel.emit("reading", path=str(path)),
        )
        channel.emit("imported", **msgspec.to_builtins(report))
        return 0
    except (ImportFailedError, WeightsError) as failure:
        channel.emit("import_refused", message=failure.message, next_step=failure.next_step)
    except Exception as error:
        fault = _fault(error)
        channel.emit("import_failed", code=fault.code, values=fault.values, file=fault.file)
    return 1


def _fault(error: Exception) -> PrepareError:
    if isinstance(error, PrepareError):
        return error
    if isinstance(error, CommandError):
        return halves_do_not_fit(error)
    if isinstance(error, OSError):
        return writing_failed(error)
    return failed_unexpectedly("internal", error)


if __name__ == "__main__":
    sys.exit(main())
