"""Every package that is imported is one that we declare, not one that another package happens to bring."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from virnucpro_backend.environment_check import PACKAGES

BACKEND = Path(__file__).resolve().parents[1]


def imported(source: Path) -> set[str]:
    """Top-level names of the modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def named(file: str, pattern: str) -> set[str]:
    """Distributions that a file names."""
    return set(re.findall(pattern, (BACKEND / file).read_text(encoding="utf-8"), re.MULTILINE))


def test_every_imported_package_is_declared() -> None:
    # Triton comes with PyTorch where PyTorch can use it.
    known = {*sys.stdlib_module_names, *PACKAGES.values(), "ray", "virnucpro_backend", "triton"}
    sources = sorted((BACKEND / "src").rglob("*.py"))
    assert sorted(set().union(*map(imported, sources)) - known) == []


def test_every_declared_package_is_installed_and_checked() -> None:
    assert named("requirements.txt", r"^([\w-]+)==") == set(PACKAGES)
    assert named("pyproject.toml", r'^  "([\w-]+)>=') >= set(PACKAGES)
    assert named("requirements.lock", r"^([\w-]+)==") >= set(PACKAGES)
