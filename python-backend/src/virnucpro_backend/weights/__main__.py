"""`python -m virnucpro_backend.weights`: weights from a command line, one JSON object a line.

Lines have a `type`: `model` (of list), `progress`, `done` or `error`. Exit code 0, or 1 after an `error`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from virnucpro_backend.weights.convert import convert_dnabert_s, convert_esm2, convert_head
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.install import Report, SourceFile, get_model, install_model
from virnucpro_backend.weights.manifest import published_model, read_manifest
from virnucpro_backend.weights.model_folder import verify_model
from virnucpro_backend.weights.model_json import ROLES, read_model_json

SECONDS_BETWEEN_REPORTS = 0.5
CONVERT = {"esm2": convert_esm2, "dnabert_s": convert_dnabert_s, "head": convert_head}


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand; returns the exit code. Errors are one JSON object on standard output."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except WeightsError as error:
        _say("error", **error.as_json())
        return 1
    except OSError as error:
        _say(
            "error",
            code="io",
            message=f"{error.filename or 'A file'}: {error.strerror}.",
            next_step="Check the folder and the disk.",
        )
        return 1
    return 0


def list_models(options: argparse.Namespace) -> None:
    """One `model` line for each published model, with whether it is installed."""
    for model in read_manifest(options.manifest).values():
        present, problem = False, None
        folder = options.weights / model.name
        if (folder / "model.json").exists():
            try:
                verify_model(folder, read_model_json(folder))
                present = True
            except WeightsError as error:
                problem = error.as_json()
        _say(
            "model",
            name=model.name,
            title=model.title,
            chunk_length=model.chunk_length,
            folder=str(folder),
            present=present,
            problem=problem,
            download_bytes=model.download_bytes,
        )


def get(options: argparse.Namespace) -> None:
    """Download and convert a published model. Raises WeightsError and OSError."""
    model = published_model(read_manifest(options.manifest), options.model)
    _say("done", folder=str(get_model(model, options.weights, _reporter())))


def import_files(options: argparse.Namespace) -> None:
    """Convert files of the user into a model folder. Raises WeightsError and OSError."""
    sources = {role: SourceFile(getattr(options, role)) for role in ROLES}
    folder = install_model(
        options.weights,
        options.name,
        sources,
        title=options.title or options.name,
        notice=options.notice,
        chunk_length=options.chunk_length,
        norm_bands=None,
        report=_reporter(),
    )
    _say("done", folder=str(folder))


def convert(options: argparse.Namespace) -> None:
    """Convert one file. Raises WeightsError and OSError."""
    _, written = CONVERT[options.role](options.source, options.target)
    _say("done", path=str(options.target), size=written.size, sha256=written.sha256)


def verify(options: argparse.Namespace) -> None:
    """Read every file of a model again and compare its hash. Raises WeightsError."""
    model = read_model_json(options.folder)
    verify_model(options.folder, model, recompute=True)
    _say("done", folder=str(options.folder), name=model.name, model_hash=model.model_hash)


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

    command("list", list_models, "Published models, and which are here.", weights, manifest)
    command("get", get, "Download and convert a published model.", weights, manifest).add_argument("model")
    files = command("import", import_files, "Make a model of files that are here.", weights)
    files.add_argument("name")
    for role in ROLES:
        files.add_argument(f"--{role.replace('_', '-')}", dest=role, type=Path, required=True)
    files.add_argument("--chunk-length", type=int, required=True, help="bases; as the classifier was trained")
    files.add_argument("--title")
    files.add_argument("--notice")
    converter = command("convert", convert, "Convert one published file to safetensors.")
    converter.add_argument("role", choices=CONVERT)
    converter.add_argument("source", type=Path)
    converter.add_argument("target", type=Path)
    checker = command("verify", verify, "Check a model folder's files against their SHA-256.")
    checker.add_argument("folder", type=Path)
    return parser


def _reporter() -> Report:
    """Says what is new at once, and otherwise twice a second."""
    last_step, last_time = "", 0.0

    def report(step: str, done: int, total: int | None) -> None:
        nonlocal last_step, last_time
        now = time.monotonic()
        if step == last_step and now - last_time < SECONDS_BETWEEN_REPORTS and done != total:
            return
        last_step, last_time = step, now
        _say("progress", step=step, done=done, total=total)

    return report


def _say(kind: str, **fields: object) -> None:
    print(json.dumps({"type": kind, **fields}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
