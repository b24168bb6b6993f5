"""This computer's processor and memory, as far as this process may use them: containers and jobs of a
scheduler have limits."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from collections.abc import Collection, Mapping
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
    limits = [cpu_quota(ROOT), slurm_cores(os.environ)]
    return max(1, min([cores, *(limit for limit in limits if limit is not None)]))


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
    quotas = [_text(group / "cpu.max").split() for group in _control_groups(root)]
    quotas += [
        [_text(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        for group in _control_groups(root, "cpu")
    ]
    allowed = [
        max(1, math.ceil(int(quota[0]) / int(quota[1])))
        for quota in quotas
        # "max" and "-1" stand for no limit.
        if len(quota) == 2 and all(number.isdigit() for number in quota) and int(quota[1]) > 0
    ]
    return min(allowed, default=None)


def slurm_cores(variables: Mapping[str, str]) -> int | None:
    """Cores that a job of SLURM has for a task; None outside of a job, or if it was given no number."""
    return _slurm_number(variables, "SLURM_CPUS_PER_TASK")


def slurm_memory_bytes(variables: Mapping[str, str]) -> int | None:
    """Bytes of main memory that a job of SLURM has on this node; None outside of a job or without a limit."""
    megabytes = _slurm_number(variables, "SLURM_MEM_PER_NODE")
    if megabytes is None:
        cpus = _slurm_number(variables, "SLURM_CPUS_ON_NODE") or slurm_cores(variables)
        each = _slurm_number(variables, "SLURM_MEM_PER_CPU")
        megabytes = each * cpus if each is not None and cpus is not None else None
    return None if megabytes is None else megabytes * 2**20


def _slurm_number(variables: Mapping[str, str], name: str) -> int | None:
    """A variable that SLURM sets in a job; a shell may have kept it from elsewhere if there is no job. 0
    stands for no limit."""
    number = variables.get(name, "")
    return int(number) if "SLURM_JOB_ID" in variables and number.isdigit() and int(number) > 0 else None


def cpu_precisions(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[Precision]:
    """Precisions the processor has instructions for. BF16 (AMX, AVX512-BF16) is detected on Linux x64."""
    flags = next((line.split() for line in _text(cpuinfo).splitlines() if line.startswith("flags")), [])
    return ["bf16", "fp32"] if {"amx_bf16", "avx512_bf16"} & set(flags) else ["fp32"]


def memory() -> Memory:
    """Main memory of the computer, or of the container or job that this process is in."""
    computer = psutil.virtual_memory()
    allowed = within_cgroups(Memory(computer.total, computer.available), ROOT)
    limit = slurm_memory_bytes(os.environ) or allowed.total
    return Memory(min(allowed.total, limit), min(allowed.available, limit))


def within_cgroups(computer: Memory, root: Path) -> Memory:
    """What control groups leave of the memory: all where there is no limit.

    Files that the system keeps in memory count as used by the group that read them, such as the weights just
    after they were fetched; they make room like those of the computer.
    """
    total, available = computer.total, computer.available
    groups = [(group, ("memory.max", "memory.current", "")) for group in _control_groups(root)]
    # In version 1, the numbers that include the groups below begin with "total_".
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    groups += [(group, names) for group in _control_groups(root, "memory")]
    for group, (limit_name, used_name, kind) in groups:
        limit, used = _text(group / limit_name).strip(), _text(group / used_name).strip()
        if not (limit.isdigit() and used.isdigit()) or int(limit) >= computer.total:
            continue
        stat = dict(line.split(" ", 1) for line in _text(group / "memory.stat").splitlines() if " " in line)
        files = sum(int(stat.get(f"{kind}{name}", 0)) for name in ("active_file", "inactive_file"))
        total = min(total, int(limit))
        available = min(available, max(0, int(limit) - max(0, int(used) - files)))
    return Memory(total, available)


def _control_groups(root: Path, controller: str = "") -> list[Path]:
    """Folders of this process's control group on Linux, and of those above, which limit it too.

    controller: the one whose groups of version 1 are meant, such as "memory"; empty for version 2. A system
    may have both.
    """
    top = root / "sys/fs/cgroup"
    path = "/"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, named = rest.partition(":")
        if controller in controllers.split(","):
            path = named
    # A group outside of what a container sees of the tree begins with "..".
    names = [name for name in path.split("/") if name not in ("", "..")]
    # In version 1, the name of a single controller is a link where several share a tree.
    top = top / controller if controller else top
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
