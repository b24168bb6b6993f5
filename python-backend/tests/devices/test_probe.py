from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from fake_nvml import (
    DRIVER_NOT_LOADED,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    VERSION_MISMATCH,
    FakeGpu,
    fake_nvml,
)

from virnucpro_backend.devices import host
from virnucpro_backend.devices.cuda_visibility import NamedDevice, visible_uuids
from virnucpro_backend.devices.host import (
    Memory,
    cpu_times,
    memory,
    own_memory_bytes,
    within_cgroup,
)
from virnucpro_backend.devices.probe import probe

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "probe-result.json").read_text(encoding="utf-8"))


def probed(monkeypatch: pytest.MonkeyPatch, module: object, **environ: str) -> dict[str, object]:
    monkeypatch.setitem(sys.modules, "pynvml", module)
    result = probe(environ)
    jsonschema.validate(result, SCHEMA)
    return result


def test_the_command_prints_one_valid_object_without_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "virnucpro_backend.devices.probe"],
        capture_output=True,
        timeout=120,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    result = json.loads(line)
    jsonschema.validate(result, SCHEMA)
    assert (not result["gpus"]) == (result["no_gpu_reason"] is not None)
    assert result["cpu"]["logical_cores"] >= 1
    assert result["cpu"]["memory_total_bytes"] > result["cpu"]["memory_available_bytes"] > 0
    # Importing these takes seconds.
    heavy = "{'numpy', 'torch', 'subprocess'} & set(sys.modules)"
    code = f"import sys, virnucpro_backend.devices.probe; print({heavy})"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "torch" not in loaded
    assert "numpy" not in loaded


def test_what_is_on_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [
        FakeGpu("GPU-aaa", free=10_000, total=50_000, compute=[(41, 7), (666, None)], graphics=[(41, 7)]),
        FakeGpu("GPU-bbb", name="Tesla T4", capability=(7, 5), mig=False),
        FakeGpu("GPU-ccc", lost=True),
    ]
    result = probed(monkeypatch, fake_nvml(gpus))
    assert result["driver_version"] == "590.44.01"
    assert result["cuda_driver_version"] == "13.1"
    assert result["no_gpu_reason"] is None
    first, second = result["gpus"]  # type: ignore[misc]
    assert (first["index"], first["uuid"], first["memory_free_bytes"]) == (0, "GPU-aaa", 10_000)
    assert first["processes"] == [
        {"pid": 41, "name": "/usr/bin/process41", "memory_bytes": 7},
        {"pid": 666, "name": None, "memory_bytes": None},
    ]
    assert (second["name"], second["compute_capability"], second["mig_enabled"]) == (
        "Tesla T4",
        [7, 5],
        False,
    )
    assert second["precisions"] == ["fp16", "fp32"]
    assert first["visible"]
    assert second["visible"]


def test_mig_slices_follow_their_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [FakeGpu("MIG-1", total=20_000, free=19_000, compute=[(7, 3)]), FakeGpu("MIG-2")]
    gpus = [FakeGpu("GPU-aaa", mig=True, slices=pieces), FakeGpu("GPU-bbb", mig=False)]
    result = probed(monkeypatch, fake_nvml(gpus), CUDA_VISIBLE_DEVICES="MIG-2")
    found = [(g["uuid"], g["parent_uuid"], g["mig_enabled"], g["visible"]) for g in result["gpus"]]  # type: ignore[attr-defined]
    assert found == [
        ("GPU-aaa", None, True, False),
        ("MIG-1", "GPU-aaa", True, False),
        ("MIG-2", "GPU-aaa", True, True),
        ("GPU-bbb", None, False, False),
    ]
    assert result["gpus"][1]["memory_total_bytes"] == 20_000  # type: ignore[index]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (LIBRARY_NOT_FOUND, "no_driver", "No NVIDIA driver software is installed"),
        (DRIVER_NOT_LOADED, "driver_not_running", "driver is not running"),
        (VERSION_MISMATCH, "restart_needed", "Restart it"),
        (NO_PERMISSION, "no_permission", "not allowed"),
        (999, "no_answer", "does not answer"),
    ],
)
def test_no_driver_is_said_in_plain_words_and_by_a_code(
    monkeypatch: pytest.MonkeyPatch, error: int, code: str, words: str
) -> None:
    result = probed(monkeypatch, fake_nvml([], init_error=error))
    assert result["gpus"] == []
    assert result["no_gpu_code"] == code
    assert words in str(result["no_gpu_reason"])


def test_a_driver_without_gpus_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    result = probed(monkeypatch, fake_nvml([FakeGpu("GPU-aaa", lost=True)]))
    assert result["no_gpu_code"] == "no_gpu_answers"
    assert "no GPU that answers" in str(result["no_gpu_reason"])


def test_a_missing_package_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    result = probed(monkeypatch, None)
    assert result["no_gpu_code"] == "package_missing"
    assert "nvidia-ml-py" in str(result["no_gpu_reason"])


DEVICES = [
    NamedDevice(0, "GPU-8f6a", None),
    NamedDevice(1, "GPU-8f7b", None),
    NamedDevice(1, "MIG-11", "GPU-8f7b"),
    NamedDevice(1, "MIG-12", "GPU-8f7b"),
    NamedDevice(2, "GPU-c0de", None),
]


@pytest.mark.parametrize(
    ("setting", "visible"),
    [
        (None, ["GPU-8f6a", "GPU-8f7b", "MIG-11", "MIG-12", "GPU-c0de"]),
        ("", []),
        ("-1", []),
        ("2, 0", ["GPU-8f6a", "GPU-c0de"]),
        ("2,-1,0", ["GPU-c0de"]),
        ("0,9,2", ["GPU-8f6a"]),
        ("GPU-c0de", ["GPU-c0de"]),
        ("gpu-C0", ["GPU-c0de"]),
        ("GPU-8f", []),
        ("1", ["GPU-8f7b", "MIG-11", "MIG-12"]),
        ("MIG-12", ["MIG-12"]),
        ("NoDevFiles", []),
        ("c0de", []),
    ],
)
def test_cuda_visible_devices(setting: str | None, visible: list[str]) -> None:
    assert visible_uuids(setting, DEVICES) == set(visible)


def test_a_containers_limit_is_its_memory(tmp_path: Path) -> None:
    computer = Memory(total=1_024_000, available=819_200)
    assert within_cgroup(computer, tmp_path) == computer
    (tmp_path / "memory.current").write_text("100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert within_cgroup(computer, tmp_path) == computer
    (tmp_path / "memory.max").write_text("400000\n")
    assert within_cgroup(computer, tmp_path) == Memory(400_000, 300_000)


def test_this_process_and_its_computer() -> None:
    assert 0 < own_memory_bytes() < memory().total
    before = cpu_times()
    sum(range(3_000_000))
    after = cpu_times()
    assert 0 < before.busy <= after.busy <= after.total
    assert after.total - after.busy >= before.total - before.busy >= 0


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("fpu avx2 avx512f amx_bf16 amx_tile", ["bf16", "fp32"]),
        ("fpu avx2 avx512f avx512_bf16", ["bf16", "fp32"]),
        ("fpu avx2 avx512f avx512_vnni", ["fp32"]),
        (None, ["fp32"]),
    ],
)
def test_a_processor_s_precisions_follow_its_instructions(
    tmp_path: Path, flags: str | None, expected: list[str]
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if flags is not None:
        cpuinfo.write_text(f"processor\t: 0\nmodel name\t: Made up\nflags\t\t: {flags}\n")
    assert host.cpu_precisions(cpuinfo) == expected
