"""This computer's processor and memory, as far as this process may use them: containers have limits."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from virnucpro_backend.devices.precisions import Precision

ROOT = Path("/")


@dataclass(frozen=True)
class Memory:
    """Bytes of main memory: how much this process may use, and how much of it is free now."""

    total: int
    available: int


@dataclass(frozen=True)
class CpuTimes:
    """Busy and total seconds of all cores together since the system started. Only differences are
    meaningful."""

    busy: float
    total: float


def cpu_name() -> str:
    """The processor's name as its maker writes it, or the machine type if the system doesn't say."""
    name = ""
    if sys.platform.startswith("linux"):
        name = _model_name(_text(Path("/proc/cpuinfo")))
    elif sys.platform == "darwin":
        name = _sysctl("machdep.cpu.brand_string")
    return name or platform.processor() or platform.machine() or "unknown processor"


def logical_cores() -> int:
    """Cores this process may use; a limit set by taskset or a cluster's scheduler counts."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


def physical_cores() -> int:
    """Cores this process may keep busy, each once where two threads share one."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = distinct_cores(affinity(0), ROOT) if affinity else None
    if cores is None:
        cores = min(psutil.cpu_count(logical=False) or logical_cores(), logical_cores())
    return max(1, min(cores, cpu_quota(ROOT) or cores))


def distinct_cores(threads: Collection[int], root: Path) -> int | None:
    """How many cores these processors of Linux, which are threads, lie on; None where it doesn't say."""
    cores = set()
    for thread in threads:
        topology = root / f"sys/devices/system/cpu/cpu{thread}/topology"
        # Kernels before 5.3 have the second name for it.
        core = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        if not core:
            return None
        cores.add(core)
    return len(cores)


def cpu_quota(root: Path) -> int | None:
    """Cores whose time control groups allow, such as a container's, rounded up; None without a limit."""
    allowed = []
    for group in _control_groups(root):
        quota, _, period = _text(group / "cpu.max").strip().partition(" ")
        if quota.isdigit() and period.isdigit() and int(period) > 0:
            allowed.append(max(1, math.ceil(int(quota) / int(period))))
    return min(allowed, default=None)


def cpu_precisions(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[Precision]:
    """Precisions the processor has instructions for. BF16 (AMX, AVX512-BF16) is detected on Linux x64."""
    flags = next((line.split() for line in _text(cpuinfo).splitlines() if line.startswith("flags")), [])
    return ["bf16", "fp32"] if {"amx_bf16", "avx512_bf16"} & set(flags) else ["fp32"]


def memory() -> Memory:
    """Main memory of the computer, or of the container that this process is in."""
    computer = psutil.virtual_memory()
    return within_cgroups(Memory(computer.total, computer.available), ROOT)


def within_cgroups(computer: Memory, root: Path) -> Memory:
    """What control groups leave of the memory: all where there is no limit.

    Files that the system keeps in memory count as used by the group that read them, such as the weights just
    after they were fetched; they make room like those of the computer.
    """
    total, available = computer.total, computer.available
    for group in _control_groups(root):
        limit, used = _text(group / "memory.max").strip(), _text(group / "memory.current").strip()
        if not (limit.isdigit() and used.isdigit()) or int(limit) >= computer.total:
            continue
        stat = dict(line.split(" ", 1) for line in _text(group / "memory.stat").splitlines() if " " in line)
        files = int(stat.get("active_file", 0)) + int(stat.get("inactive_file", 0))
        total = min(total, int(limit))
        available = min(available, max(0, int(limit) - max(0, int(used) - files)))
    return Memory(total, available)


def _control_groups(root: Path) -> list[Path]:
    """Folders of this process's control group (Linux, version 2) and of those above, which limit it too."""
    top = root / "sys/fs/cgroup"
    line = next(
        (line for line in _text(root / "proc/self/cgroup").splitlines() if line.startswith("0::/")), "0::/"
    )
    # A group outside of what a container sees of the tree begins with "..".
    names = [name for name in line.removeprefix("0::").split("/") if name not in ("", "..")]
    return [top.joinpath(*names[:count]) for count in range(len(names) + 1)]


def cpu_times() -> CpuTimes:
    """Busy and total processor time of the whole computer."""
    times = psutil.cpu_times()._asdict()
    # Linux already counts the time of virtual machines as user time.
    total = sum(seconds for name, seconds in times.items() if not name.startswith("guest"))
    return CpuTimes(total - times["idle"] - times.get("iowait", 0.0), total)


def own_memory_bytes() -> int:
    """Bytes of main memory this process holds; on Linux without mapped files, which processes share."""
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _model_name(cpuinfo: str) -> str:
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return ""


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
