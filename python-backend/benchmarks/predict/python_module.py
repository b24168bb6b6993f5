"""Starts a module of the backend with this interpreter, in the project's folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def python(module: str, *words: object) -> str:
    """Run a module and return its output. Raises CalledProcessError if it fails."""
    command = [sys.executable, "-X", "utf8", "-m", module, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def python_json(module: str, *words: object) -> dict[str, Any]:
    """Run a module and return the JSON object in the last line of its output."""
    content: dict[str, Any] = json.loads(python(module, *words).splitlines()[-1])
    return content
