"""Finds which GPUs the installed PyTorch was built for, without importing it, which takes seconds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Literal

TorchBuild = Literal["cuda", "rocm", "cpu"]


def torch_build() -> TorchBuild | None:
    """Whether this environment's PyTorch computes on NVIDIA's GPUs, AMD's, or the CPU only. None if it is not
    installed or doesn't say.
    """
    text = _version_file()
    return None if text is None else build_of(text)


def torch_cuda() -> str | None:
    """The CUDA version this environment's PyTorch is built for, such as 13.0; None if it has none."""
    text = _version_file()
    return None if text is None or build_of(text) != "cuda" else _value(text, "cuda")


def _version_file() -> str | None:
    spec = importlib.util.find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or []:
        try:
            return (Path(folder) / "version.py").read_text(encoding="utf-8")
        except OSError:
            continue
    return None


def build_of(version_file: str) -> TorchBuild:
    """Read the build from the text of torch/version.py, where `hip`, `cuda` or neither has a version."""
    for name, build in (("hip", "rocm"), ("cuda", "cuda")):
        if _value(version_file, name) is not None:
            return build  # type: ignore[return-value]
    return "cpu"


def _value(version_file: str, name: str) -> str | None:
    found = re.search(rf"^{name}\b[^=\n]*=\s*['\"]([^'\"]*)", version_file, re.MULTILINE)
    return None if found is None else found[1]
