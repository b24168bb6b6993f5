"""The conditions of a measurement (computer, versions, command), stored with all figures."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from virnucpro_backend.devices.host import cpu_name, logical_cores
from virnucpro_backend.devices.nvml import NvmlUnavailableError, open_nvml

_PACKAGES = ("numpy", "triton", "tokenizers", "safetensors", "transformers", "fair-esm")


def conditions(program: str, device: torch.device | None) -> dict[str, Any]:
    """Return time, command, hardware and versions, ready for JSON.

    `program`: a module or a file. Without a device no GPU is used, as even asking for its name takes memory.
    """
    what = program if program.endswith(".py") else f"-m {program}"
    return {
        "measured": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python {what} {shlex.join(sys.argv[1:])}".strip(),
        "device": None if device is None else _device_facts(device),
        "cpu": cpu_name(),
        "cores": logical_cores(),
        "system": f"{platform.system()} {platform.release()}",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            **{package: _version(package) for package in _PACKAGES},
        },
    }


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
    version_of_driver = nvml.ask(nvml.api.nvmlSystemGetDriverVersion)
    return None if version_of_driver is None else str(version_of_driver)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
