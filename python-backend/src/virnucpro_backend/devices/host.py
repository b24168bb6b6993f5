"""This computer's processor and memory. A container's memory limit counts as its memory."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from virnucpro_backend.devices.kinds import Precision

CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Memory:
    """Bytes of main memory: all that this process may use, and how much of it is free to take now."""

    total: int
    available: int


@dataclass(frozen=True)
class CpuTimes:
    """Seconds that all cores together were busy, and in total, since the system started; only differences
    count."""

    busy: float
    total: float


def cpu_name() -> str:
    """The processor's name as its maker writes it, or the machine type where the system doesn't say."""
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
    """Cores this process may use, each once where two threads share one."""
    return max(1, min(psutil.cpu_count(logical=False) or logical_cores(), logical_cores()))


def cpu_precisions(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[Precision]:
    """What the processor has instructions for. BF16 is found on Linux, and on x64: AMX or AVX512-BF16."""
    flags = next((line.split() for line in _text(cpuinfo).splitlines() if line.startswith("flags")), [])
    return ["bf16", "fp32"] if {"amx_bf16", "avx512_bf16"} & set(flags) else ["fp32"]


def memory() -> Memory:
    """Main memory of the computer, or of the container that this process is in."""
    computer = psutil.virtual_memory()
    return within_cgroup(Memory(computer.total, computer.available), CGROUP)


def within_cgroup(computer: Memory, cgroup: Path) -> Memory:
    """What a control group (Linux, version 2) leaves of the memory: all where there is no limit."""
    limit, used = _text(cgroup / "memory.max").strip(), _text(cgroup / "memory.current").strip()
    if limit.isdigit() and used.isdigit() and int(limit) < computer.total:
        return Memory(int(limit), min(computer.available, max(0, int(limit) - int(used))))
    return computer


def cpu_times() -> CpuTimes:
    """Busy and total processor time of the whole computer."""
    times = psutil.cpu_times()._asdict()
    # Linux counts the time of virtual machines once more, in the time of the user.
    total = sum(seconds for name, seconds in times.items() if not name.startswith("guest"))
    return CpuTimes(total - times["idle"] - times.get("iowait", 0.0), total)


def own_memory_bytes() -> int:
    """Main memory that this process holds now; on Linux without mapped files, which processes share."""
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
