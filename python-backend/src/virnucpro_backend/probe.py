"""`python -m virnucpro_backend.probe`: one JSON object about this computer's GPUs and processor.

GPUs come from NVML: no torch and no CUDA context, so that the probe is quick and takes no device memory. The
GPUs' numbers are nvidia-smi's. A GPU in MIG mode is listed (it can't be used whole), followed by its slices.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from typing import Any

from virnucpro_backend import __version__
from virnucpro_backend.cuda_visibility import NamedDevice, visible_uuids
from virnucpro_backend.host import cpu_name, logical_cores, memory
from virnucpro_backend.nvml import Nvml, NvmlUnavailableError, open_nvml
from virnucpro_backend.protocol import PROTOCOL_VERSION


def probe(environ: Mapping[str, str]) -> dict[str, Any]:
    """What there is to compute on, as the object of schemas/probe-result.json. Never raises for want of a
    GPU.
    """
    started = time.perf_counter()
    setting = environ.get("CUDA_VISIBLE_DEVICES")
    gpus: list[dict[str, Any]] = []
    driver = cuda = reason = None
    try:
        nvml = open_nvml()
    except NvmlUnavailableError as error:
        reason = str(error)
    else:
        driver = nvml.ask(nvml.api.nvmlSystemGetDriverVersion)
        cuda = _cuda_version(nvml.ask(nvml.api.nvmlSystemGetCudaDriverVersion))
        gpus = _gpus(nvml)
        if not gpus:
            reason = "The NVIDIA driver is running but finds no GPU that answers."
    named = [NamedDevice(gpu["index"], gpu["uuid"], gpu["parent_uuid"]) for gpu in gpus]
    visible = visible_uuids(setting, named)
    ram = memory()
    return {
        "type": "probe",
        "protocol": PROTOCOL_VERSION,
        "backend_version": __version__,
        "gpus": [{**gpu, "visible": gpu["uuid"] in visible} for gpu in gpus],
        "driver_version": driver,
        "cuda_driver_version": cuda,
        "cuda_visible_devices": setting,
        "no_gpu_reason": reason,
        "apple_mps": sys.platform == "darwin" and platform.machine() == "arm64",
        "cpu": {
            "name": cpu_name(),
            "logical_cores": logical_cores(),
            "memory_total_bytes": ram.total,
            "memory_available_bytes": ram.available,
        },
        "probe_ms": round((time.perf_counter() - started) * 1000, 1),
    }


def _cuda_version(number: int | None) -> str | None:
    """NVML's 13010 as the text 13.1."""
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"


def _gpus(nvml: Nvml) -> list[dict[str, Any]]:
    gpus = []
    for index, handle in nvml.handles():
        uuid = nvml.ask(nvml.api.nvmlDeviceGetUUID, handle)
        if uuid is None:
            continue  # Without a UUID no worker can be pinned to it.
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
        "mig_enabled": split,
        "parent_uuid": parent,
        "processes": _processes(nvml, handle),
    }


def _processes(nvml: Nvml, handle: Any) -> list[dict[str, Any]]:
    """Who uses the GPU: processes that compute on it or draw with it, each once."""
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
    sys.stdout.write(json.dumps(probe(os.environ)) + "\n")


if __name__ == "__main__":
    main()
