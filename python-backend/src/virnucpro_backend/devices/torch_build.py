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
    spec = importlib.util.find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or []:
        try:
            return build_of((Path(folder) / "version.py").read_text(encoding="utf-8"))
        except OSError:
            continue
    return None


def build_of(version_file: str) -> TorchBuild:
    """The same from the text of torch/version.py, where `hip` or `cuda` is a version, or neither."""
    for name, build in (("hip", "rocm"), ("cuda", "cuda")):
        if re.search(rf"^{name}\b[^=\n]*=\s*['\"]", version_file, re.MULTILINE):
            return build  # type: ignore[return-value]
    return "cpu"
