"""The folder of a run's pool on SLURM.

In it are `job.sh`, which is submitted, and `task`, by which it starts a task's Python; `jobs.json`, which of
SLURM's jobs are this pool's; `pool`, its sign of life; below `tasks` the streams of each task (see
`node_task`); and the tasks' logs.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from virnucpro_backend.cluster.events import PoolFailedError
from virnucpro_backend.cluster.mailbox import make_private
from virnucpro_backend.cluster.node_task import TASKS

LOG_LINES = 5

_PYTHON_SETTINGS = (
    *("PYTHONUTF8", "PYTHONIOENCODING", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE"),
    "TOKENIZERS_PARALLELISM",
)
"""Of the engine's for its Python processes, which a task's Python gets too."""


def make_pool_folder(folder: Path) -> None:
    """For nobody else to read or write. Raises PoolFailedError."""
    try:
        make_private(folder)
        make_private(folder / TASKS)
    except OSError as error:
        raise not_writable(folder, error) from error


def remembered_jobs(folder: Path) -> dict[str, Any]:
    """What `remember_jobs` has written last; empty where nothing is there that can be read."""
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
    return {}


def remember_jobs(folder: Path, content: dict[str, Any]) -> None:
    """For the next session. Raises OSError."""
    temporary = folder / "jobs.json.new"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / "jobs.json")


def write_task(folder: Path) -> None:
    """What starts a task, also from a script that a person submits: by this process's own Python.

    Raises OSError.
    """
    settings = {name: os.environ[name] for name in _PYTHON_SETTINGS if name in os.environ}
    settings["PYTHONPATH"] = str(Path(__file__).resolve().parents[3])
    (folder / "task").write_text(
        "#!/bin/sh\n"
        + "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
        + f"python={shlex.quote(sys.executable)}\n"
        + 'exec "${VIRNUCPRO_PYTHON:-$python}" -X utf8 -u -m virnucpro_backend.cluster.node_task "$@"\n',
        encoding="utf-8",
        newline="\n",
    )


def last_lines(folder: Path) -> str:
    """The end of the log that was written to last, for a message."""
    try:
        logs = sorted(folder.glob("*_*.log"), key=lambda path: path.stat().st_mtime)
        text = logs[-1].read_bytes()[-4000:].decode("utf-8", "replace") if logs else ""
    except OSError:
        return ""
    return " / ".join(line.strip() for line in text.splitlines()[-LOG_LINES:] if line.strip())[-600:]


def not_writable(folder: Path, error: OSError) -> PoolFailedError:
    """The folder can't be used, for the user."""
    return PoolFailedError(
        "not_allowed",
        f"The pool's folder can't be used: {error}",
        f"See that {folder} can be made and written to, and by nobody else.",
    )
