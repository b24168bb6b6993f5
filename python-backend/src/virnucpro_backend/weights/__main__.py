"""`python -m virnucpro_backend.weights`: manage weights; write one JSON object per line.

Lines have a `type`: `reading` (before a user's file is read), `progress`, `note`, `done` or `error`. The exit
code is 0, or 1 after an `error`.
"""

from __future__ import annotations

import argparse
import errno
import json
import signal
import sys
import time
from pathlib import Path

from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.importing import import_models
from virnucpro_backend.weights.install import get_model
from virnucpro_backend.weights.manifest import published_model, read_manifest
from virnucpro_backend.weights.model_json import read_model_json
from virnucpro_backend.weights.verified import verify_file

SECONDS_BETWEEN_REPORTS = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand; return the exit code. An error is one JSON object on standard output."""
    # Exit normally when a download is paused, so that what has arrived is recorded.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except WeightsError as error:
        _say("error", **error.as_json())
        return 1
    except OSError as error:
        _say(
            "error",
            code="disk_full" if error.errno == errno.ENOSPC else "folder_unwritable",
            message=f"{error.filename or 'A file'}: {error.strerror}.",
            next_step=None,
        )
        return 1
    return 0


def get(options: argparse.Namespace) -> None:
    """Download and convert a published model. Raises WeightsError and OSError."""
    model = published_model(read_manifest(options.manifest), options.model)
    _say("done", folders=[str(get_model(model, options.weights, _Reporter(), mirror=options.mirror))])


def import_files(options: argparse.Namespace) -> None:
    """Make models from files and folders. Raises WeightsError and OSError."""
    folders = import_models(
        options.paths,
        options.weights,
        read_manifest(options.manifest),
        _Reporter(),
        name=options.name,
        chunk_length=options.chunk_length,
        on_file=lambda path: _say("reading", path=str(path)),
    )
    _say("done", folders=[str(folder) for folder in folders])


def verify(options: argparse.Namespace) -> None:
    """Read every file of a model again and compare hashes. Raises WeightsError."""
    model = read_model_json(options.folder)
    report, done, total = _Reporter(), 0, sum(file.size for file in model.files.values())
    for file in model.files.values():
        report.progress(f"Checking {Path(file.path).name}", done, total)
        verify_file(options.folder / file.path, file.size, file.sha256, recompute=True)
        done += file.size
    _say("done", folders=[str(options.folder)], name=model.name, model_hash=model.model_hash)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.weights", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(
        name: str, run: object, words: str, *parents: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=words, description=words, parents=parents)
        added.set_defaults(run=run)
        return added

    weights = argparse.ArgumentParser(add_help=False)
    weights.add_argument("--weights", type=Path, required=True, help="folder that holds the model folders")
    manifest = argparse.ArgumentParser(add_help=False)
    manifest.add_argument("--manifest", type=Path, required=True, help="resources/models.json")

    getter = command("get", get, "Download and convert a published model.", weights, manifest)
    getter.add_argument("model")
    getter.add_argument("--mirror", help="address of a folder that holds all files by their names")
    files = command("import", import_files, "Make models of files and folders.", weights, manifest)
    files.add_argument("paths", type=Path, nargs="+")
    files.add_argument("--name", help="name of the model")
    files.add_argument("--chunk-length", type=int, help="bases; as the classifier was trained")
    checker = command("verify", verify, "Check a model folder's files against their SHA-256.")
    checker.add_argument("folder", type=Path)
    return parser


class _Reporter:
    """Reports a new step immediately, and progress within a step twice a second."""

    def __init__(self) -> None:
        self._step, self._time = "", 0.0

    def progress(self, step: str, done: int, total: int | None) -> None:
        """See Report."""
        now = time.monotonic()
        if step == self._step and now - self._time < SECONDS_BETWEEN_REPORTS and done != total:
            return
        self._step, self._time = step, now
        _say("progress", step=step, done=done, total=total)

    def note(self, text: str) -> None:
        """See Report."""
        _say("note", text=text)


def _say(type_: str, **fields: object) -> None:
    print(json.dumps({"type": type_, **fields}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
