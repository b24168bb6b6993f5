"""A model's weights on a node: those that lie there already, else those sent once, kept by their hash.

Nothing is sent twice to a node, whichever run or computer it was sent for: what has arrived stays below the
program's cache folder (VIRNUCPRO_CACHE), as `models/HASH`. Only one process at a time fills such a folder,
the holder of a lock that the system takes back when the process ends; nodes with one home folder share it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from virnucpro_backend.cluster.ray.files import write_piece
from virnucpro_backend.safetensors_file import sha256_of_file, sync_folder
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.folder_lock import take_lock
from virnucpro_backend.weights.model_files import ModelFile, hash_of_files, model_files, read_description
from virnucpro_backend.weights.verified import cache_folder, verify_file

DISK_MARGIN = 1 << 30
"""Bytes left on the node's disk for everything else."""


@dataclass(frozen=True)
class ModelAt:
    """A model's files as they lie in a folder, and its description as JSON. `hash`: see `hash_of_files`."""

    folder: Path
    description: dict[str, Any]
    files: dict[str, ModelFile]

    @property
    def hash(self) -> str:
        """SHA-256, 64 hexadecimal digits."""
        return hash_of_files(self.files)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def read_model(folder: Path) -> ModelAt:
    """The model in a folder, whose files are not looked at. Raises WeightsError."""
    description = read_description(folder)
    try:
        return ModelAt(folder, description, model_files(description))
    except ValueError as error:
        raise WeightsError("model_damaged", f"{folder}: {error}.", "Get the weights again.") from error


class ModelCache:
    """The models of one node."""

    def __init__(self, root: Path | None = None) -> None:
        """`root`: the folder of models that were sent; None for the usual one."""
        self._root = cache_folder() / "models" if root is None else root
        self._locks: dict[str, int] = {}
        """Open lock files of the models that this process is filling in."""

    def find(self, wanted: str, folders: Sequence[str]) -> str | None:
        """A folder with the model of this hash: one of `folders`, one of the program's own on this node, or
        what was sent earlier. None where there is none with all of its files in their right sizes.
        """
        for folder in [*map(Path, folders), *_own_folders()]:
            if _is_whole(folder, wanted):
                return str(folder)
        return str(self._folder(wanted)) if self._is_right(wanted) else None

    def begin(self, wanted: str, size: int) -> str:
        """Ask to fill in a model of `size` bytes: `filling` if the caller is to send it, `ready` where it has
        arrived meanwhile, `busy` where another process is receiving it; a sentence where there is no room.

        Raises OSError.
        """
        if wanted in self._locks:
            return "busy"
        self._root.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._root / f"{wanted}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            take_lock(lock)
        except OSError:
            os.close(lock)
            return "busy"
        self._locks[wanted] = lock
        if self._is_right(wanted):
            self.abandon(wanted)
            return "ready"
        arriving = self._arriving(wanted)
        shutil.rmtree(arriving, ignore_errors=True)
        shutil.rmtree(self._folder(wanted), ignore_errors=True)
        free = shutil.disk_usage(self._root).free
        if free < size + DISK_MARGIN:
            self.abandon(wanted)
            return (
                f"The weights need {size / 1e9:.1f} GB in {self._root}, and its disk has {free / 1e9:.1f} GB "
                "left. Another folder can be named there with VIRNUCPRO_CACHE."
            )
        arriving.mkdir()
        return "filling"

    def write(self, wanted: str, name: str, offset: int, piece: bytes) -> None:
        """Put a piece of a file where it belongs; again if it comes again. Raises OSError."""
        write_piece(self._arriving(wanted) / name, offset, piece)

    def finish(self, wanted: str, description: dict[str, Any]) -> str:
        """Check every file against its SHA-256, give the folder its name, and let go of the lock.

        `description`: the model's, with the files under `local_names`. Raises WeightsError (`model_damaged`,
        `model_missing`) and OSError; nothing is kept then.
        """
        arriving = self._arriving(wanted)
        try:
            for file in model_files(description).values():
                path = arriving / file.path
                if sha256_of_file(path) != file.sha256:
                    raise WeightsError(
                        "model_damaged", f"{path} arrived with other bytes than were sent.", "Resume the run."
                    )
                with open(path, "rb") as opened:
                    os.fsync(opened.fileno())
            (arriving / "model.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
            os.replace(arriving, self._folder(wanted))
            sync_folder(self._root)
        except BaseException:
            shutil.rmtree(arriving, ignore_errors=True)
            raise
        finally:
            self.abandon(wanted)
        return str(self._folder(wanted))

    def abandon(self, wanted: str) -> None:
        """Let go of a model's lock."""
        lock = self._locks.pop(wanted, None)
        if lock is not None:
            os.close(lock)

    def _folder(self, wanted: str) -> Path:
        return self._root / wanted

    def _arriving(self, wanted: str) -> Path:
        return self._root / f"{wanted}.arriving"

    def _is_right(self, wanted: str) -> bool:
        """Whether what was sent earlier is still what it was, to the byte where that isn't remembered."""
        folder = self._folder(wanted)
        if not _is_whole(folder, wanted):
            return False
        try:
            for file in read_model(folder).files.values():
                verify_file(folder / file.path, file.size, file.sha256)
        except (WeightsError, OSError):
            return False
        return True


def local_names(files: dict[str, ModelFile]) -> dict[str, ModelFile]:
    """The same files, all in one folder: models may share files that lie beside theirs."""
    return {
        role: ModelFile(f"{role}-{PurePosixPath(file.path).name}", file.size, file.sha256)
        for role, file in files.items()
    }


def with_files(description: dict[str, Any], files: dict[str, ModelFile]) -> dict[str, Any]:
    """A model's description with other names of its files."""
    entries = {
        role: {"path": file.path, "size": file.size, "sha256": file.sha256} for role, file in files.items()
    }
    return {**description, "files": entries}


def _own_folders() -> list[Path]:
    """Where the program keeps weights on this computer, if it is installed here."""
    chosen = os.environ.get("VIRNUCPRO_DATA_DIR")
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    weights = (Path(chosen) if chosen else Path(base) / "virnucpro-desktop") / "weights"
    try:
        return sorted(folder for folder in weights.iterdir() if folder.is_dir())
    except OSError:
        return []


def _is_whole(folder: Path, wanted: str) -> bool:
    """Whether a folder has this model and all of its files in their sizes. Their hashes are checked by the
    worker that loads them.
    """
    try:
        model = read_model(folder)
        return model.hash == wanted and all(
            (folder / file.path).stat().st_size == file.size for file in model.files.values()
        )
    except (WeightsError, OSError):
        return False
