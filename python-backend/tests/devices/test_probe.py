from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pynvml
import pytest
from fake_nvml import FakeGpu, fake_nvml

from virnucpro_backend.devices import host
from virnucpro_backend.devices import probe as probe_module
from virnucpro_backend.devices.host import Memory, cpu_times, memory, own_memory_bytes, within_cgroups
from virnucpro_backend.devices.probe import cuda_of, probe
from virnucpro_backend.devices.visibility import NamedDevice, visible_gpus

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
    assert (not result["gpus"]) == (result["no_gpu_code"] is not None)
    assert result["cpu"]["logical_cores"] >= 1
    assert result["cpu"]["memory_total_bytes"] > result["cpu"]["memory_available_bytes"] > 0
    # Importing these takes seconds.
    code = "import sys, virnucpro_backend.devices.probe; print({'numpy', 'torch'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_each_gpu_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [
        FakeGpu("GPU-aaa", free=10_000, total=50_000, compute=[(41, 7), (666, None)], graphics=[(41, 7)]),
        FakeGpu("GPU-bbb", name="Tesla T4", capability=(7, 5), mig=False),
        FakeGpu("GPU-ccc", lost=True),
    ]
    result = probed(monkeypatch, fake_nvml(gpus))
    assert result["driver_version"] == "590.44.01"
    assert result["cuda_driver_version"] == "13.1"
    assert result["no_gpu_code"] is None
    first, second = result["gpus"]  # type: ignore[misc]
    assert (first["index"], first["uuid"], first["memory_free_bytes"]) == (0, "GPU-aaa", 10_000)
    assert first["processes"] == [
        {"pid": 41, "name": "/usr/bin/process41", "memory_bytes": 7},
        {"pid": 666, "name": None, "memory_bytes": None},
    ]
    facts = (second["name"], second["compute_capability"], second["mig_enabled"])
    assert facts == ("Tesla T4", [7, 5], False)
    assert second["precisions"] == ["fp16", "fp32"]
    assert first["visible"]
    assert second["visible"]


@pytest.mark.parametrize(
    ("version", "cuda", "blocked"),
    [
        ("cuda: Optional[str] = '13.0'\nhip: Optional[str] = None", "13.0", None),
        ("cuda = '12.8'", "12.8", None),
        ("cuda: Optional[str] = None\nhip: Optional[str] = '7.1.25424'", None, "pytorch"),
        ("debug = False\ncuda: Optional[str] = None", None, "pytorch"),
        (None, None, None),
    ],
)
def test_a_gpu_needs_a_pytorch_for_cuda(
    monkeypatch: pytest.MonkeyPatch, version: str | None, cuda: str | None, blocked: str | None
) -> None:
    monkeypatch.setattr(probe_module, "_torch_version", lambda: version)
    result = probed(monkeypatch, fake_nvml([FakeGpu("GPU-aaa")]))
    assert (result["torch_cuda"], result["gpus"][0]["blocked_by"]) == (cuda, blocked)  # type: ignore[index]


def test_the_cuda_version_of_the_installed_pytorch_is_read() -> None:
    import torch

    assert cuda_of(Path(torch.__file__).with_name("version.py").read_text()) == torch.version.cuda


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
    ("error", "code"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "driver_missing"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "driver_not_running"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "driver_updated"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "driver_forbidden"),
        (999, "driver_silent"),
    ],
)
def test_a_missing_driver_has_a_code(monkeypatch: pytest.MonkeyPatch, error: int, code: str) -> None:
    result = probed(monkeypatch, fake_nvml([], init_error=error))
    assert result["gpus"] == []
    assert result["no_gpu_code"] == code


def test_a_driver_without_gpus_and_a_missing_package_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    assert probed(monkeypatch, fake_nvml([FakeGpu("GPU-aaa", lost=True)]))["no_gpu_code"] == "gpus_silent"
    result = probed(monkeypatch, None)
    assert result["no_gpu_code"] == "nvml_missing"
    assert result["no_gpu_detail"]


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
def test_cuda_visible_devices_is_applied(setting: str | None, visible: list[str]) -> None:
    assert visible_gpus(setting, DEVICES) == set(visible)


def made_up(root: Path, **files: str) -> None:
    """Files of /proc and /sys below a folder; "__" in a name stands for "/"."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def group_files(group: str, **files: str) -> dict[str, str]:
    return {f"sys/fs/cgroup{group}/{name.replace('_', '.', 1)}": text for name, text in files.items()}


def test_a_containers_limit_is_its_memory(tmp_path: Path) -> None:
    computer = Memory(total=1_024_000, available=819_200)
    assert within_cgroups(computer, tmp_path) == computer
    made_up(tmp_path, **group_files("", memory_current="100000\n", memory_max="max\n"))
    assert within_cgroups(computer, tmp_path) == computer
    made_up(tmp_path, **group_files("", memory_max="400000\n"))
    assert within_cgroups(computer, tmp_path) == Memory(400_000, 300_000)
    # Most of it are files that were read, which make room when a process needs it.
    made_up(tmp_path, **group_files("", memory_stat="anon 20000\ninactive_file 60000\nactive_file 10000\n"))
    assert within_cgroups(computer, tmp_path) == Memory(400_000, 370_000)


def test_a_limit_counts_wherever_it_lies_above_this_process(tmp_path: Path) -> None:
    """As on the nodes of a cluster, where a job's limit is its group's and its steps are groups below."""
    computer = Memory(total=1_024_000, available=819_200)
    made_up(tmp_path, proc__self__cgroup="4:pids:/x\n0::/slurm/job_7/step_0\n")
    made_up(tmp_path, **group_files("/slurm/job_7", memory_max="400000", memory_current="100000"))
    made_up(tmp_path, **group_files("/slurm/job_7/step_0", memory_max="max", memory_current="90000"))
    made_up(tmp_path, **group_files("/slurm", cpu_max="max 100000"))
    assert within_cgroups(computer, tmp_path) == Memory(400_000, 300_000)
    assert host.cpu_quota(tmp_path) is None
    made_up(tmp_path, **group_files("/slurm/job_7", cpu_max="350000 100000"))
    made_up(tmp_path, **group_files("/slurm/job_7/step_0", cpu_max="800000 100000"))
    assert host.cpu_quota(tmp_path) == 4
    # A container is at the top of what it sees.
    made_up(tmp_path, proc__self__cgroup="0::/../../pod\n", **group_files("", cpu_max="5000 100000"))
    assert host.cpu_quota(tmp_path) == 1


@pytest.mark.parametrize("has_version_2", [False, True], ids=["version 1", "hybrid"])
def test_control_groups_of_version_1_and_those_above_them_limit_memory_and_cores(
    has_version_2: bool, tmp_path: Path
) -> None:
    computer = Memory(total=1_000_000, available=900_000)
    lines = "4:memory:/slurm/job_1\n3:cpuset:/\n2:cpu,cpuacct:/slurm/job_1\n1:name=systemd:/a\n"
    made_up(tmp_path, proc__self__cgroup=lines + ("0::/user\n" if has_version_2 else ""))

    def limit(group: str, memory: dict[str, str], quota: str) -> None:
        files = {f"sys/fs/cgroup/memory{group}/memory.{name}": text for name, text in memory.items()}
        cpu = f"sys/fs/cgroup/cpu{group}/cpu.cfs"
        made_up(tmp_path, **files, **{f"{cpu}_quota_us": quota, f"{cpu}_period_us": "100000\n"})

    limit("/slurm/job_1", {"limit_in_bytes": str(2**63 - 4096), "usage_in_bytes": "30000"}, "-1\n")
    assert within_cgroups(computer, tmp_path) == computer
    assert host.cpu_quota(tmp_path) is None
    stat = "active_file 1\ntotal_active_file 2000\ntotal_inactive_file 3000\n"
    limit("/slurm", {"limit_in_bytes": "400000\n", "usage_in_bytes": "100000\n", "stat": stat}, "150000\n")
    assert within_cgroups(computer, tmp_path) == Memory(400_000, 305_000)
    assert host.cpu_quota(tmp_path) == 2
    limit("/slurm/job_1", {"limit_in_bytes": "50000\n"}, "50000\n")
    assert within_cgroups(computer, tmp_path) == Memory(50_000, 20_000)
    assert host.cpu_quota(tmp_path) == 1


@pytest.mark.parametrize(
    ("variables", "megabytes", "cores"),
    [
        ({"SLURM_MEM_PER_NODE": "700", "SLURM_CPUS_PER_TASK": "3"}, 700, 3),
        ({"SLURM_MEM_PER_CPU": "100", "SLURM_CPUS_ON_NODE": "4", "SLURM_CPUS_PER_TASK": "2"}, 400, 2),
        ({"SLURM_MEM_PER_CPU": "100", "SLURM_CPUS_PER_TASK": "2"}, 200, 2),
        ({"SLURM_MEM_PER_CPU": "100"}, None, None),
        ({"SLURM_MEM_PER_NODE": "0"}, None, None),
        ({"SLURM_MEM_PER_NODE": "many", "SLURM_CPUS_PER_TASK": ""}, None, None),
        ({}, None, None),
    ],
)
def test_a_job_of_slurm_limits_memory_and_cores(
    variables: dict[str, str], megabytes: int | None, cores: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = {"SLURM_JOB_ID": "1", **variables}
    limit = None if megabytes is None else megabytes * 2**20
    assert (host.slurm_memory_bytes(job), host.slurm_cores(job)) == (limit, cores)
    # Without a job, they are what a shell has kept.
    assert (host.slurm_memory_bytes(variables), host.slurm_cores(variables)) == (None, None)
    unlimited = host.memory().total
    for name, value in job.items():
        monkeypatch.setenv(name, value)
    assert host.memory().total == min(unlimited, limit or unlimited)
    assert host.physical_cores() <= (cores or host.logical_cores())


def test_two_threads_of_a_core_that_this_process_may_use_are_one_core(tmp_path: Path) -> None:
    assert host.distinct_cores({0, 4}, tmp_path) is None
    for thread in range(8):
        path = f"sys/devices/system/cpu/cpu{thread}/topology/core_cpus_list"
        made_up(tmp_path, **{path: f"{thread % 4},{thread % 4 + 4}\n"})
    assert host.distinct_cores({0, 4}, tmp_path) == 1
    assert host.distinct_cores({0, 1, 4}, tmp_path) == 2
    assert host.distinct_cores(range(8), tmp_path) == 4


def test_memory_and_processor_are_read() -> None:
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
def test_a_processors_precisions_follow_its_instructions(
    tmp_path: Path, flags: str | None, expected: list[str]
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if flags is not None:
        cpuinfo.write_text(f"processor\t: 0\nmodel name\t: Made up\nflags\t\t: {flags}\n")
    assert host.cpu_precisions(cpuinfo) == expected
