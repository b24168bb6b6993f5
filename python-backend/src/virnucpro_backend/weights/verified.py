"""Checks files against their SHA-256, and caches the result for large ones, which take long to read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError, missing

WORTH_REMEMBERING = 64 << 20
"""In bytes; smaller files are hashed every time."""


def cache_folder() -> Path:
    """The folder for cached data: VIRNUCPRO_CACHE, or the system's cache folder."""
    chosen = os.environ.get("VIRNUCPRO_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "virnucpro"


def verify_file(path: Path, size: int, sha256: str, *, recompute: bool = False) -> None:
    """Raise WeightsError (`model_missing`, `model_damaged`) unless the file exists and is the one
    described.

    A large file that was verified earlier and still has the same size, times and inode is not read again,
    unless `recompute`.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise missing(path) from error
    if status.st_size != size:
        raise _damaged(path, f"it has {status.st_size} bytes instead of {size}")
    key = str(path.resolve())
    # The modification time alone is not enough: it can be set to anything, and copying preserves it.
    facts: list[int | str] = [size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, sha256]
    remember = size >= WORTH_REMEMBERING
    if remember and not recompute and _remembered().get(key) == facts:
        return
    if sha256_of_file(path) != sha256:
        raise _damaged(path, "its SHA-256 is not the expected one")
    if remember:
        _remember(key, facts)


def _damaged(path: Path, why: str) -> WeightsError:
    return WeightsError("model_damaged", f"{path} is damaged: {why}.", path=str(path))


def _remembered() -> dict[str, object]:
    try:
        content = json.loads((cache_folder() / "verified-files.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _remember(key: str, facts: list[int | str]) -> None:
    """Store the result if possible; without the cache the file is only hashed again next time."""
    target = cache_folder() / "verified-files.json"
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({**_remembered(), key: facts}, indent=1), encoding="utf-8")
        os.replace(temporary, target)
    except OSError:
        temporary.unlink(missing_ok=True)
