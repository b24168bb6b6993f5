"""Errors that a public function raises must be named in its docstring; ruff has no rule for this."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


def public_functions(parent: ast.Module | ast.ClassDef, path: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in parent.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{path}:{node.lineno} {node.name}", node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node, path)


def raised(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names of the exceptions in the function's own `raise` statements."""
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            called = node.exc.func
            name = called.id if isinstance(called, ast.Name) else ""
            if name.endswith("Error"):
                yield name


def test_errors_that_a_public_function_raises_are_in_its_docstring() -> None:
    silent = [
        f"{where}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for where, function in public_functions(
            ast.parse(path.read_text(encoding="utf-8")), path.relative_to(SOURCE).as_posix()
        )
        for name in raised(function)
        if name not in (ast.get_docstring(function) or "")
    ]
    assert silent == []
