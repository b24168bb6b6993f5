"""`python -m virnucpro_backend.devices.probe`: write a JSON object about this computer's devices.

GPUs are read through NVML. The probe imports no torch and creates no context on a device, so it is quick and
takes no device memory. GPUs have nvidia-smi's numbers. A GPU in MIG mode is listed, though only its slices,
which follow it, can be used.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virnucpro_backend import __version__
from virnucpro_backend.devices.host import (
    cpu_name,
    cpu_precisions,
    logical_cores,
    memory,
    physical_cores,
)
from virnucpro_backend.devices.nvml import Nvml, NvmlUnavailableError, open_nvml
from virnucpro_backend.devices.precisions import nvidia_precisions
from virnucpro_backend.devices.visibility import NamedDevice, visible_gpus
from virnucpro_backend.problem_codes import NoGpuCode
from virnucpro_backend.protocol import PROTOCOL_VERSION


def probe(environ: Mapping[str, str]) -> dict[str, Any]:
    """Describe this computer's devices as the object of schemas/probe-result.json; no GPU is no error."""
    setting = environ.get("CUDA_VISIBLE_DEVICES")
    gpus: list[dict[str, Any]] = []
    driver = cuda = detail = None
    code: NoGpuCode | None = None
    try:
        nvml = open_nvml()
    except NvmlUnavailableError as error:
        detail, code = str(error), error.code
    else:
        driver = nvml.ask(nvml.api.nvmlSystemGetDriverVersion)
        cuda = _cuda_version(nvml.ask(nvml.api.nvmlSystemGetCudaDriverVersion))
        gpus = _gpus(nvml)
        if not gpus:
            code = "gpus_silent"
    named = [NamedDevice(gpu["index"], gpu["uuid"], gpu["parent_uuid"]) for gpu in gpus]
    visible = visible_gpus(setting, named)
    torch_version = _torch_version()
    torch_cuda = None if torch_version is None else cuda_of(torch_version)
    blocked_by = "pytorch" if torch_version is not None and torch_cuda is None else None
    ram = memory()
    return {
        "type": "probe",
        "protocol": PROTOCOL_VERSION,
        "backend_version": __version__,
        "gpus": [{**gpu, "visible": gpu["uuid"] in visible, "blocked_by": blocked_by} for gpu in gpus],
        "driver_version": driver,
        "cuda_driver_version": cuda,
        "torch_cuda": torch_cuda,
        "cuda_visible_devices": setting,
        "no_gpu_code": None if gpus else code,
        "no_gpu_detail": None if gpus else detail,
        "apple_mps": sys.platform == "darwin" and platform.machine() == "arm64",
        "cpu": {
            "name": cpu_name(),
            "logical_cores": logical_cores(),
            "physical_cores": physical_cores(),
            "precisions": cpu_precisions(),
            "memory_total_bytes": ram.total,
            "memory_available_bytes": ram.available,
        },
    }


def _torch_version() -> str | None:
    """The text of PyTorch's version.py, read without importing PyTorch, which takes seconds; None if there is
    none."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or []:
        try:
            return (Path(folder) / "version.py").read_text(encoding="utf-8")
        except OSError:
            continue
    return None


def cuda_of(torch_version: str) -> str | None:
    """The CUDA version that PyTorch is built for by its version.py, such as 13.0; None for another build."""
    found = re.search(r"^cuda\b[^=\n]*=\s*['\"]([^'\"]*)", torch_version, re.MULTILINE)
    return None if found is None else found[1]


def _cuda_version(number: int | None) -> str | None:
    """Convert NVML's 13010 to the text 13.1."""
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"


def _gpus(nvml: Nvml) -> list[dict[str, Any]]:
    gpus = []
    for index, handle in nvml.handles():
        uuid = nvml.ask(nvml.api.nvmlDeviceGetUUID, handle)
        if uuid is None:
            continue  # No worker can be pinned to a GPU without a UUID.
        mode = nvml.ask(nvml.api.nvmlDeviceGetMigMode, handle)
        split = bool(mode and mode[0])
        capability = nvml.ask(nvml.api.nvmlDeviceGetCudaComputeCapability, handle) or (0, 0)
        gpus.append(_gpu(nvml, handle, index, uuid, capability, split, parent=None))
        for piece in nvml.slices(handle) if split else []:
            piece_uuid = nvml.ask(nvml.api.nvmlDeviceGetUUID, piece)
            if piece_uuid is not None:
                gpus.append(_gpu(nvml, piece, index, piece_uuid, capability, True, parent=uuid))
    return gpus


def _gpu(
    nvml: Nvml, handle: Any, index: int, uuid: str, capability: Any, split: bool, parent: str | None
) -> dict[str, Any]:
    info = nvml.ask(nvml.api.nvmlDeviceGetMemoryInfo, handle)
    return {
        "index": index,
        "uuid": uuid,
        "name": nvml.ask(nvml.api.nvmlDeviceGetName, handle) or "NVIDIA GPU",
        "memory_total_bytes": int(info.total) if info else 0,
        "memory_free_bytes": int(info.free) if info else 0,
        "compute_capability": [int(capability[0]), int(capability[1])],
        "precisions": nvidia_precisions((int(capability[0]), int(capability[1]))),
        "mig_enabled": split,
        "parent_uuid": parent,
        "processes": _processes(nvml, handle),
    }


def _processes(nvml: Nvml, handle: Any) -> list[dict[str, Any]]:
    """The processes that compute on the GPU or draw with it, each once."""
    found: dict[int, dict[str, Any]] = {}
    for question in (
        nvml.api.nvmlDeviceGetComputeRunningProcesses,
        nvml.api.nvmlDeviceGetGraphicsRunningProcesses,
    ):
        for process in nvml.ask(question, handle) or []:
            name = nvml.ask(nvml.api.nvmlSystemGetProcessName, process.pid)
            used = process.usedGpuMemory
            found[process.pid] = {
                "pid": int(process.pid),
                "name": name or None,
                "memory_bytes": None if used is None else int(used),
            }
    return [found[pid] for pid in sorted(found)]


def main() -> None:
    """Write what `probe` finds as one JSON object on standard output."""
    sys.stdout.write(json.dumps(probe(os.environ)) + "\n")


if __name__ == "__main__":
    main()
