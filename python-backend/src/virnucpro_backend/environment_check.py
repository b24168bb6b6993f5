"""`python -m virnucpro_backend.environment_check`: check that this interpreter has the required packages.

Writes one JSON object. It imports only the standard library, unless `--import` asks it to prove that the
packages work; so it answers quickly, and in any environment, however damaged.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import sys

from virnucpro_backend import __version__

PACKAGES = {
    "torch": "torch",
    "numpy": "numpy",
    "safetensors": "safetensors",
    "tokenizers": "tokenizers",
    "httpx2": "httpx2",
    "truststore": "truststore",
    "xopen": "xopen",
    "nvidia-ml-py": "pynvml",
    "msgspec": "msgspec",
    "psutil": "psutil",
}
"""Distributions that computing needs, each with the name of its module."""


def check_environment(*, thorough: bool) -> dict[str, object]:
    """Return `packages` (version by distribution) and `problems` (one sentence by distribution).

    `thorough` imports every module, which takes seconds; otherwise a module counts when it can be found.
    """
    packages: dict[str, str] = {"virnucpro-backend": __version__}
    problems: dict[str, str] = {}
    for distribution, module in PACKAGES.items():
        problem = _problem(module, thorough)
        if problem is None:
            packages[distribution] = _version(distribution)
        else:
            problems[distribution] = problem
    return {
        "executable": sys.executable,
        "python_version": ".".join(str(part) for part in sys.version_info[:3]),
        "packages": packages,
        "problems": problems,
    }


def _problem(module: str, thorough: bool) -> str | None:
    try:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:  # no origin: a folder left behind without its files
            return "is not installed"
        if thorough:
            importlib.import_module(module)
    except Exception as error:  # a damaged package can raise anything on import
        return f"cannot be imported: {type(error).__name__}: {error}"
    return None


def _version(distribution: str) -> str:
    """Some system packages have no metadata: then only their presence is known."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def main() -> None:
    """Write what `check_environment` finds as one JSON object on standard output."""
    report = check_environment(thorough="--import" in sys.argv[1:])
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
