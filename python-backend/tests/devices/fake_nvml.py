"""A fake `pynvml` module for computers without an NVIDIA driver, with only the calls this program makes.

It behaves like NVML: a value that a GPU doesn't support raises NVMLError with a code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


NOT_SUPPORTED = 3
NOT_FOUND = 6
DRIVER_NOT_LOADED = 9
LIBRARY_NOT_FOUND = 12
GPU_IS_LOST = 15
VERSION_MISMATCH = 18
NO_PERMISSION = 4


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
    everyone = [*gpus, *(piece for gpu in gpus for piece in gpu.slices)]

    def told(gpu: FakeGpu, value: Any) -> Any:
        if gpu.lost:
            raise NVMLError(GPU_IS_LOST)
        if value is None:
            raise NVMLError(NOT_SUPPORTED)
        return value

    def init() -> None:
        if init_error is not None:
            raise NVMLError(init_error)

    def by_index(index: int) -> FakeGpu:
        return told(gpus[index], gpus[index])

    def by_uuid(uuid: str) -> FakeGpu:
        for gpu in everyone:
            if gpu.uuid == uuid:
                return told(gpu, gpu)
        raise NVMLError(NOT_FOUND)

    def slice_of(gpu: FakeGpu, index: int) -> FakeGpu:
        if index >= len(gpu.slices):
            raise NVMLError(NOT_FOUND)
        return gpu.slices[index]

    def running(processes: list[tuple[int, int | None]]) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes]

    def process_name(pid: int) -> str:
        if pid == 666:
            raise NVMLError(NO_PERMISSION)
        return f"/usr/bin/process{pid}"

    def memory_of(gpu: FakeGpu) -> SimpleNamespace:
        return told(gpu, SimpleNamespace(total=gpu.total, free=gpu.free, used=gpu.total - gpu.free))

    module = ModuleType("pynvml")
    module.__dict__.update(
        NVMLError=NVMLError,
        NVML_ERROR_LIBRARY_NOT_FOUND=LIBRARY_NOT_FOUND,
        NVML_ERROR_DRIVER_NOT_LOADED=DRIVER_NOT_LOADED,
        NVML_ERROR_LIB_RM_VERSION_MISMATCH=VERSION_MISMATCH,
        NVML_ERROR_NO_PERMISSION=NO_PERMISSION,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=init,
        nvmlSystemGetDriverVersion=lambda: "590.44.01",
        nvmlSystemGetCudaDriverVersion=lambda: 13010,
        nvmlSystemGetProcessName=process_name,
        nvmlDeviceGetCount=lambda: len(gpus),
        nvmlDeviceGetHandleByIndex=by_index,
        nvmlDeviceGetHandleByUUID=by_uuid,
        nvmlDeviceGetUUID=lambda gpu: told(gpu, gpu.uuid),
        nvmlDeviceGetName=lambda gpu: told(gpu, gpu.name),
        nvmlDeviceGetMemoryInfo=memory_of,
        nvmlDeviceGetCudaComputeCapability=lambda gpu: told(gpu, gpu.capability),
        nvmlDeviceGetMigMode=lambda gpu: [told(gpu, gpu.mig), 0],
        nvmlDeviceGetMaxMigDeviceCount=lambda gpu: 7,
        nvmlDeviceGetMigDeviceHandleByIndex=slice_of,
        nvmlDeviceGetComputeRunningProcesses=lambda gpu: running(told(gpu, gpu.compute)),
        nvmlDeviceGetGraphicsRunningProcesses=lambda gpu: running(told(gpu, gpu.graphics)),
        nvmlDeviceGetUtilizationRates=lambda gpu: told(gpu, SimpleNamespace(gpu=gpu.utilization)),
        nvmlDeviceGetPowerUsage=lambda gpu: told(gpu, gpu.power_mw),
        nvmlDeviceGetTemperature=lambda gpu, sensor: told(gpu, gpu.temperature),
    )
    return module
