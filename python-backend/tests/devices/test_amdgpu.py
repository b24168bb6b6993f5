"""AMD GPUs are read from made-up trees in the kernel's format; no test uses a real AMD GPU."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fake_nvml import LIBRARY_NOT_FOUND, FakeGpu, fake_nvml
from fake_sysfs import GIB, MI210, RX_6800_XT, RYZEN_GRAPHICS, XTX, hold_memory, make_tree, node_folder, write

from virnucpro_backend.devices import probe as probe_module
from virnucpro_backend.devices.amdgpu import amd_gpus, gfx_target
from virnucpro_backend.devices.monitor import DeviceSampler
from virnucpro_backend.devices.probe import probe
from virnucpro_backend.devices.torch_build import build_of, torch_build, torch_cuda
from virnucpro_backend.devices.visibility import visible_amd_gpus

SCHEMAS = Path(__file__).parents[2] / "schemas"
NO_NVIDIA = fake_nvml([], init_error=LIBRARY_NOT_FOUND)
XTX_UUID, MI210_UUID = "GPU-3f2a90b1c4d5e6f7", "GPU-00ab12cd34ef5678"


def probed(
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    nvml: object = NO_NVIDIA,
    build: str | None = "rocm",
    **environ: str,
) -> dict[str, Any]:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(probe_module, "torch_build", lambda: build)
    result = probe(environ, root)
    schema = json.loads((SCHEMAS / "probe-result.json").read_text(encoding="utf-8"))
    jsonschema.validate(result, schema)
    return result


def test_every_kind_of_gpu_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = make_tree(tmp_path, [XTX, RX_6800_XT, RYZEN_GRAPHICS, MI210])
    hold_memory(root, XTX, 4711, "gmx", 3 * GIB)
    hold_memory(root, XTX, 4712, "idle", 0)
    hold_memory(root, MI210, 4713, "other", GIB)
    result = probed(monkeypatch, root)
    assert result["no_gpu_code"] is None
    first, *others = result["gpus"]
    assert first == {
        "vendor": "amd",
        "index": 0,
        "uuid": XTX_UUID,
        "name": "AMD Radeon RX 7900 XTX",
        "memory_total_bytes": 24 * GIB,
        "memory_free_bytes": 22 * GIB,
        "gfx_target": "gfx1100",
        "precisions": ["bf16", "fp16", "fp32"],
        "integrated": False,
        "processes": [{"pid": 4711, "name": "gmx", "memory_bytes": 3 * GIB}],
        "blocked_by": None,
        "visible": True,
    }
    # A GPU without a unique number is named by its PCI address. ROCm also counts integrated GPUs.
    assert [(g["index"], g["uuid"], g["name"], g["gfx_target"], g["integrated"]) for g in others] == [
        (1, "AMD-0000:0a:00.0", "AMD Radeon RX 6800 XT", "gfx1030", False),
        (2, "AMD-0000:13:00.0", "AMD Radeon Graphics, two \t commas", "gfx1036", True),
        (3, MI210_UUID, "Instinct MI210", "gfx90a", False),
    ]


def test_nodes_that_rocm_ignores_are_not_counted(tmp_path: Path) -> None:
    root = make_tree(tmp_path, [replace(XTX, render_minor=140), RX_6800_XT, RYZEN_GRAPHICS, MI210])
    (root / "dev/dri/renderD140").unlink()  # as in a container that has only the other GPUs
    hidden = node_folder(root, 2) / "properties"
    hidden.unlink()
    hidden.mkdir()  # unreadable, like a device that a control group hides
    write(node_folder(root, 3) / "properties", "")
    assert [(gpu.index, gpu.uuid) for gpu in amd_gpus(root)] == [(0, MI210_UUID)]


def test_nodes_are_ordered_by_their_numbers(tmp_path: Path) -> None:
    many = [replace(XTX, unique_id=number, render_minor=128 + number) for number in range(1, 12)]
    found = amd_gpus(make_tree(tmp_path, many))
    assert [gpu.uuid for gpu in found] == [f"GPU-{number:016x}" for number in range(1, 12)]


def test_a_unique_id_that_two_gpus_share_identifies_neither(tmp_path: Path) -> None:
    root = make_tree(tmp_path, [XTX, replace(XTX, render_minor=129), replace(XTX, render_minor=130, bus=4)])
    assert [gpu.uuid for gpu in amd_gpus(root)] == [
        "AMD-0000:03:00.0",
        "AMD-0000:03:00.0-1",
        "AMD-0000:04:00.0",
    ]


def test_a_missing_file_only_loses_its_own_figure(tmp_path: Path) -> None:
    bare = dict.fromkeys(("mem_info_vram_used", "product_name", "gpu_busy_percent"))
    files = {**bare, "device": "nonsense", "mem_info_vram_total": "99999999999999999999x"}
    root = make_tree(tmp_path, [replace(XTX, files=files, sensors={"temp1_input": ""})])
    shutil.rmtree(root / "usr")
    (gpu,) = amd_gpus(root)
    assert (gpu.name, gpu.memory(), gpu.integrated) == ("AMD GPU (gfx1100)", (0, 0), False)
    assert set(gpu.figures().values()) == {None}
    assert gpu.processes(root) == []
    shutil.rmtree(gpu.folder)
    assert set(gpu.figures().values()) == {None}
    (gpu,) = amd_gpus(root)
    assert gpu.uuid == XTX_UUID


def test_a_node_with_processor_cores_is_integrated(tmp_path: Path) -> None:
    (gpu,) = amd_gpus(make_tree(tmp_path, [replace(XTX, cpu_cores=8)]))
    assert gpu.integrated


def test_without_amds_driver_there_are_no_gpus(tmp_path: Path) -> None:
    assert amd_gpus(tmp_path) == []


def test_missing_permission_to_open_devices_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = make_tree(tmp_path, [XTX, MI210])
    for closed, blocked in (("kfd", ["permission"] * 2), ("renderD131", [None, "permission"])):
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode, closed=closed: Path(path).name != closed)
            result = probed(monkeypatch, root)
        assert [gpu["blocked_by"] for gpu in result["gpus"]] == blocked


@pytest.mark.parametrize(
    ("build", "nvidia", "amd"),
    [
        ("rocm", "pytorch", None),
        ("cuda", None, "pytorch"),
        ("cpu", "pytorch", "pytorch"),
        (None, None, "pytorch"),
    ],
)
def test_a_pytorch_build_supports_the_gpus_of_one_maker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, build: str | None, nvidia: str | None, amd: str | None
) -> None:
    result = probed(monkeypatch, make_tree(tmp_path, [XTX]), fake_nvml([FakeGpu("GPU-aaa")]), build)
    assert [(g["vendor"], g["index"], g["blocked_by"]) for g in result["gpus"]] == [
        ("nvidia", 0, nvidia),
        ("amd", 0, amd),
    ]


def test_the_installed_pytorch_build_is_detected() -> None:
    text = "__version__ = '{}'\ndebug = False\ncuda{} = {}\nhip{} = {}\nrocm: Optional[str] = None\n"
    hint = ": Optional[str]"
    assert build_of(text.format("2.13.0+rocm7.1", hint, None, hint, "'7.1.25424-4179531dcd'")) == "rocm"
    assert build_of(text.format("2.13.0+cu130", hint, "'13.0'", hint, None)) == "cuda"
    assert build_of(text.format("2.11.0", "", "'12.8'", "", None)) == "cuda"
    assert build_of(text.format("2.13.0+cpu", hint, None, hint, None)) == "cpu"
    import torch

    assert torch_cuda() == torch.version.cuda
    expected = "rocm" if torch.version.hip else "cuda" if torch.version.cuda else "cpu"
    assert torch_build() == expected


@pytest.mark.parametrize(
    ("version", "target"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90012, "gfx90c"),
        (100306, "gfx1036"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (80003, "gfx803"),
    ],
)
def test_instruction_sets_get_the_compilers_names(version: int, target: str) -> None:
    assert gfx_target(version) == target


A, B, C = XTX_UUID, "AMD-0000:0a:00.0", MI210_UUID


@pytest.mark.parametrize(
    ("settings", "visible"),
    [
        ({}, [A, B, C]),
        ({"ROCR": ""}, []),
        ({"ROCR": "2, 0"}, [A, C]),
        ({"ROCR": "0,7,2"}, [A]),
        ({"ROCR": "2,2,0"}, [C]),
        ({"ROCR": "GPU-00AB"}, [C]),
        ({"ROCR": "GPU-"}, []),
        ({"ROCR": B}, []),
        ({"HIP": "1"}, [B]),
        ({"CUDA": "1"}, [B]),
        ({"CUDA": "1", "HIP": "0"}, [A]),
        ({"CUDA": "-1"}, []),
        ({"CUDA": ""}, []),
        # The second variable numbers what the first left, in the first's order.
        ({"ROCR": "2,0", "HIP": "0"}, [C]),
        ({"ROCR": "2,0", "HIP": "2"}, []),
        ({"ROCR": "1", "CUDA": "0"}, [B]),
    ],
)
def test_environment_variables_hide_gpus(settings: dict[str, str], visible: list[str]) -> None:
    environ = {f"{name}_VISIBLE_DEVICES": value for name, value in settings.items()}
    assert visible_amd_gpus(environ, [A, B, C]) == set(visible)


def test_the_probe_applies_and_reports_visibility_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = make_tree(tmp_path, [XTX, MI210])
    result = probed(monkeypatch, root, ROCR_VISIBLE_DEVICES="1", HIP_VISIBLE_DEVICES="0")
    assert [gpu["visible"] for gpu in result["gpus"]] == [False, True]
    assert (result["rocr_visible_devices"], result["hip_visible_devices"]) == ("1", "0")


def test_gpus_of_both_makers_are_sampled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml([FakeGpu("GPU-a")]))
    root = make_tree(tmp_path, [XTX, RX_6800_XT])
    sampler = DeviceSampler(["AMD-0000:0a:00.0", "GPU-a", XTX_UUID], root)
    sample = sampler.sample()
    schema = json.loads((SCHEMAS / "monitor-event.json").read_text(encoding="utf-8"))
    jsonschema.validate({"type": "sample", **sample}, schema)
    radeon, nvidia, xtx = sample["devices"]
    assert xtx == {
        "uuid": XTX_UUID,
        "utilization_percent": 98,
        "memory_used_bytes": 2 * GIB,
        "memory_total_bytes": 24 * GIB,
        "temperature_c": 47.0,
        "power_w": 293.0,
    }
    assert (radeon["memory_used_bytes"], radeon["power_w"]) == (GIB, 41.0)
    assert nvidia["power_w"] == 412.3

    busy = root / "sys/class/drm/renderD128/device/gpu_busy_percent"
    busy.unlink()
    busy.mkdir()  # drops out in the middle
    assert sampler.sample()["devices"][2]["utilization_percent"] is None
    busy.rmdir()
    write(busy, "7\n")
    assert sampler.sample()["devices"][2]["utilization_percent"] == 7
