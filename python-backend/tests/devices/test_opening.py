"""Devices are refused with an explanation. GPUs of other capabilities are simulated by numbers."""

from __future__ import annotations

import errno
import os
import sys
from types import SimpleNamespace

import pytest
import torch

from virnucpro_backend.devices.opening import (
    LoadFailedError,
    check_capability,
    open_device,
    uuid_as_nvml_writes_it,
)
from virnucpro_backend.inference.failures import part_failure, write_failure


@pytest.mark.parametrize(
    ("capability", "supported"),
    [
        ((6, 1), {"fp32"}),
        ((7, 0), {"fp32", "fp16"}),
        ((7, 5), {"fp32", "fp16"}),
        ((8, 0), {"fp32", "fp16", "bf16"}),
        ((8, 9), {"fp32", "fp16", "bf16", "fp8"}),
        ((12, 0), {"fp32", "fp16", "bf16", "fp8"}),
    ],
)
def test_precisions_follow_the_compute_capability(capability: tuple[int, int], supported: set[str]) -> None:
    for precision in supported:
        check_capability("Card", capability, precision)  # type: ignore[arg-type]
    for precision in {"fp32", "fp16", "bf16", "fp8"} - supported:
        with pytest.raises(LoadFailedError, match=rf"capability {capability[0]}\.") as failure:
            check_capability("Card", capability, precision)  # type: ignore[arg-type]
        assert failure.value.code == "precision_unsupported"
        assert failure.value.values == {"precision": precision.upper()}


class SimulatedCuda:
    """Fakes what opening a device uses of PyTorch for CUDA, with one GPU; it computes on the CPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 1
        facts = {"name": "NVIDIA A100", "major": 8, "minor": 0, "uuid": "00AB12CD-34EF"}
        cpu_ones = torch.ones
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        monkeypatch.setattr(torch.cuda, "device_count", lambda: self.count)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(**facts))
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (60 << 30, 64 << 30))
        monkeypatch.setattr(torch, "ones", lambda *size, device: cpu_ones(*size))


def test_a_gpu_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimulatedCuda(monkeypatch)
    opened = open_device("cuda", "bf16", None)
    assert (opened.device.type, opened.name, opened.memory_total) == ("cuda", "NVIDIA A100", 64 << 30)
    assert opened.uuid == "GPU-00ab12cd-34ef"
    with pytest.raises(LoadFailedError, match="FP8"):
        open_device("cuda", "fp8", None)
    monkeypatch.setitem(os.environ, "CUDA_VISIBLE_DEVICES", "GPU-00ab12cd-34ef")
    cuda.count = 0
    with pytest.raises(LoadFailedError, match="sees 0 GPUs with CUDA_VISIBLE_DEVICES='GPU-00ab") as failure:
        open_device("cuda", "bf16", None)
    assert failure.value.code == "gpu_not_alone"
    assert failure.value.values == {"number": "0", "value": "GPU-00ab12cd-34ef"}


def test_a_gpus_memory_can_be_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    SimulatedCuda(monkeypatch)
    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda share, _: shares.append(share))
    assert open_device("cuda", "bf16", None).memory_limit is None
    assert open_device("cuda", "bf16", 0.25).memory_limit == 16 << 30
    # Windows slowly moves what exceeds the free memory to main memory, so the share is limited there.
    monkeypatch.setattr(sys, "platform", "win32")
    assert open_device("cuda", "bf16", 0.99).memory_limit == int(0.95 * (60 << 30))
    assert shares == [0.25, 0.95 * 60 / 64]


def test_a_pytorch_without_cuda_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(LoadFailedError) as nvidia:
        open_device("cuda", "bf16", None)
    assert (nvidia.value.code, nvidia.value.values) == ("pytorch_unfit", {"version": torch.__version__})


def test_the_cpu_has_no_fp8_and_one_thread() -> None:
    opened = open_device("cpu", "fp32", None)
    assert opened.device.type == "cpu"
    assert opened.uuid is None
    assert opened.name
    assert torch.get_num_threads() == 1
    with pytest.raises(LoadFailedError) as failure:
        open_device("cpu", "fp8", None)
    assert failure.value.code == "precision_unsupported"


def test_uuids_are_converted_to_those_of_the_probe() -> None:
    bare = "8F6A1B2C-0000-1111-2222-333344445555"
    assert uuid_as_nvml_writes_it(bare, f"GPU-{bare}") == f"GPU-{bare.lower()}"
    assert uuid_as_nvml_writes_it(bare, f"MIG-{bare}") == f"MIG-{bare.lower()}"


def test_errors_are_mapped_to_codes() -> None:
    assert write_failure(OSError(errno.ENOSPC, "No space left on device"), "x").code == "disk_full"
    assert write_failure(OSError(errno.EACCES, "Permission denied"), "x").code == "folder_unwritable"
    lost = part_failure(RuntimeError("CUDA error: an illegal memory access was encountered\nmore"))
    assert lost.code == "device_lost"
    assert "more" not in lost.message
    assert part_failure(torch.OutOfMemoryError("CUDA out of memory.")).code == "out_of_memory"
    assert part_failure(ZeroDivisionError("x")).code == "internal_error"
