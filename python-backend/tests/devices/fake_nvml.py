"""NVML with simulated GPUs for computers without an NVIDIA driver, with only the calls this program makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pynvml
from pynvml import NVMLError


@dataclass
class FakeGpu:
    uuid: str
    name: str = "NVIDIA H200"
    total: int = 150_000_000_000
    free: int = 149_000_000_000
    capability: tuple[int, int] = (9, 0)
    lost: bool = False
    mig: bool | None = None
    """None means that the GPU does not support MIG."""
    slices: list[FakeGpu] = field(default_factory=list)
    compute: list[tuple[int, int | None]] = field(default_factory=list)
    graphics: list[tuple[int, int | None]] = field(default_factory=list)
    power_mw: int | None = 412_300
    temperature: int = 57
    utilization: int = 98


def fake_nvml(gpus: list[FakeGpu], init_error: int | None = None) -> ModuleType:
    """Make the module, with these GPUs in nvidia-smi's order."""

    def answering(value_of: Callable[[FakeGpu], Any]) -> Callable[..., Any]:
        def answer(gpu: FakeGpu, *_: object) -> Any:
            if gpu.lost:
                raise NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            value = value_of(gpu)
            if value is None:
                raise NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return value

        return answer

    def init() -> None:
        if init_error is not None:
            raise NVMLError(init_error)

    handle = answering(lambda gpu: gpu)

    def by_uuid(uuid: str) -> FakeGpu:
        for gpu in gpus:
            for piece in (gpu, *gpu.slices):
                if piece.uuid == uuid:
                    return handle(piece)
        raise NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    def slice_of(gpu: FakeGpu, index: int) -> FakeGpu:
        if index >= len(gpu.slices):
            raise NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return gpu.slices[index]

    def running(processes: list[tuple[int, int | None]]) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes]

    def process_name(pid: int) -> str:
        if pid == 666:
            raise NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)
        return f"/usr/bin/process{pid}"

    def memory_of(gpu: FakeGpu) -> SimpleNamespace:
        return SimpleNamespace(total=gpu.total, free=gpu.free, used=gpu.total - gpu.free)

    module = ModuleType("pynvml")
    module.__dict__.update(
        {name: value for name, value in vars(pynvml).items() if name.startswith("NVML")},
        nvmlInit=init,
        nvmlSystemGetDriverVersion=lambda: "590.44.01",
        nvmlSystemGetCudaDriverVersion=lambda: 13010,
        nvmlSystemGetProcessName=process_name,
        nvmlDeviceGetCount=lambda: len(gpus),
        nvmlDeviceGetHandleByIndex=lambda index: handle(gpus[index]),
        nvmlDeviceGetHandleByUUID=by_uuid,
        nvmlDeviceGetUUID=answering(lambda gpu: gpu.uuid),
        nvmlDeviceGetName=answering(lambda gpu: gpu.name),
        nvmlDeviceGetMemoryInfo=answering(memory_of),
        nvmlDeviceGetCudaComputeCapability=answering(lambda gpu: gpu.capability),
        nvmlDeviceGetMigMode=answering(lambda gpu: None if gpu.mig is None else [gpu.mig, 0]),
        nvmlDeviceGetMaxMigDeviceCount=lambda gpu: 7,
        nvmlDeviceGetMigDeviceHandleByIndex=slice_of,
        nvmlDeviceGetComputeRunningProcesses=answering(lambda gpu: running(gpu.compute)),
        nvmlDeviceGetGraphicsRunningProcesses=answering(lambda gpu: running(gpu.graphics)),
        nvmlDeviceGetUtilizationRates=answering(lambda gpu: SimpleNamespace(gpu=gpu.utilization)),
        nvmlDeviceGetPowerUsage=answering(lambda gpu: gpu.power_mw),
        nvmlDeviceGetTemperature=answering(lambda gpu: gpu.temperature),
    )
    return module
