"""For which GPUs the installed PyTorch was built, without the seconds that importing it takes."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Literal

TorchBuild = Literal["cuda", "rocm", "cpu"]


def torch_build() -> TorchBuild | None:
    """What the PyTorch of this environment computes on: NVIDIA's GPUs, AMD's, or none of them. None where it
    is not installed or doesn't say.
    """
    text = _version_file()
    return None if text is None else build_of(text)


def torch_cuda() -> str | None:
    """The CUDA that the PyTorch of this environment is built for, such as 13.0; None for another, or none."""
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
    """The same from the text of torch/version.py, where `hip` or `cuda` is a version, or neither."""
    for name, build in (("hip", "rocm"), ("cuda", "cuda")):
        if _value(version_file, name) is not None:
            return build  # type: ignore[return-value]
    return "cpu"


def _value(version_file: str, name: str) -> str | None:
    found = re.search(rf"^{name}\b[^=\n]*=\s*['\"]([^'\"]*)", version_file, re.MULTILINE)
    return None if found is None else found[1]
