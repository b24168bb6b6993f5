"""What a device is refused for, and in which words. GPUs of other capabilities are only numbers here."""

from __future__ import annotations

import errno

import pytest
import torch

from virnucpro_backend.inference.device import (
    check_capability,
    open_device,
    uuid_as_nvml_writes_it,
)
from virnucpro_backend.inference.failures import LoadFailedError, shard_failure, write_failure


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
def test_precisions_by_capability(capability: tuple[int, int], supported: set[str]) -> None:
    for precision in supported:
        check_capability("Card", capability, precision)  # type: ignore[arg-type]
    for precision in {"fp32", "fp16", "bf16", "fp8"} - supported:
        with pytest.raises(LoadFailedError, match=rf"capability {capability[0]}\.") as failure:
            check_capability("Card", capability, precision)  # type: ignore[arg-type]
        assert failure.value.code == "precision_unsupported"
        assert failure.value.next_step


def test_the_cpu_has_no_fp8_and_one_thread() -> None:
    opened = open_device("cpu", "fp32", None)
    assert opened.device.type == "cpu"
    assert opened.uuid is None
    assert opened.name
    assert torch.get_num_threads() == 1
    with pytest.raises(LoadFailedError) as failure:
        open_device("cpu", "fp8", None)
    assert failure.value.code == "precision_unsupported"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu_is_said_plainly() -> None:
    with pytest.raises(LoadFailedError) as failure:
        open_device("cuda", "bf16", None)
    assert failure.value.code == "device_unusable"
    assert failure.value.next_step


def test_uuids_as_the_probe_writes_them() -> None:
    bare = "8F6A1B2C-0000-1111-2222-333344445555"
    assert uuid_as_nvml_writes_it(bare, f"GPU-{bare}") == f"GPU-{bare.lower()}"
    assert uuid_as_nvml_writes_it(bare, f"MIG-{bare}") == f"MIG-{bare.lower()}"


def test_errors_become_codes() -> None:
    assert write_failure(OSError(errno.ENOSPC, "No space left on device"), "x").code == "disk_full"
    assert write_failure(OSError(errno.EACCES, "Permission denied"), "x").code == "write_failed"
    lost = shard_failure(RuntimeError("CUDA error: an illegal memory access was encountered\nmore"))
    assert lost.code == "device_lost"
    assert "more" not in lost.message
    assert shard_failure(torch.OutOfMemoryError("CUDA out of memory.")).code == "out_of_memory"
    assert shard_failure(ZeroDivisionError("x")).code == "internal_error"
