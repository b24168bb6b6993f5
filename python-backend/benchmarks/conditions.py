"""The conditions of a measurement (computer, versions, command), stored with all figures."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from datetime import datetime, timezone
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.devices.host import cpu_name, logical_cores
from virnucpro_backend.devices.nvml import NvmlUnavailableError, open_nvml

_PACKAGES = {"numpy", "triton", "tokenizers", "safetensors", "transformers", "fair-esm"}


def conditions(module: str, device: torch.device | None) -> dict[str, Any]:
    """Return time, command, hardware and versions, ready for JSON.

    Without a device no GPU is used, as even asking for its name takes memory.
    """
    return {
        "measured": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python -m {module} {shlex.join(sys.argv[1:])}".strip(),
        "device": None if device is None else _device_facts(device),
        "cpu": cpu_name(),
        "cores": logical_cores(),
        "system": f"{platform.system()} {platform.release()}",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            **{package.name: package.version for package in distributions() if package.name in _PACKAGES},
        },
    }


def add_rows(file: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Write rows to a JSON file; they replace earlier rows of the same name."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(known | rows, indent=1) + "\n", encoding="utf-8")


def _device_facts(device: torch.device) -> dict[str, Any]:
    if device.type != "cuda":
        return {"kind": device.type, "name": cpu_name(), "threads": torch.get_num_threads()}
    properties = torch.cuda.get_device_properties(device)
    return {
        "kind": "cuda",
        "name": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "memory_gib": round(properties.total_memory / 2**30, 1),
        "driver": _driver(),
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }


def _driver() -> str | None:
    try:
        nvml = open_nvml()
    except NvmlUnavailableError:
        return None
    version = nvml.ask(nvml.api.nvmlSystemGetDriverVersion)
    return None if version is None else str(version)
