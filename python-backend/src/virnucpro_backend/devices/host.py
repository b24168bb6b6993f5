"""Facts about this computer's processor and memory, from the operating system alone.

No package is needed for them, so that the probe stays quick. Linux is what this was tested on; the branches
for macOS and Windows follow the systems' documentation. A container's memory limit counts as its memory.
"""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Memory:
    """Bytes of main memory: all there is for this process's use, and how much of it is free to take now."""

    total: int
    available: int


@dataclass(frozen=True)
class CpuTimes:
    """Time all cores together spent busy and in total since the system started; only differences count."""

    busy: float
    total: float


def cpu_name() -> str:
    """The processor's name as its maker writes it, or the machine type where the system doesn't say."""
    name = ""
    if sys.platform.startswith("linux"):
        name = _field(_text("/proc/cpuinfo"), "model name")
    elif sys.platform == "darwin":
        name = _sysctl("machdep.cpu.brand_string")
    return name or platform.processor() or platform.machine() or "unknown processor"


def logical_cores() -> int:
    """Cores this process may use; a limit set by taskset or a cluster's scheduler counts."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


def memory() -> Memory:
    """Main memory; zeros where the system doesn't say."""
    if sys.platform.startswith("linux"):
        return _linux_memory(_text("/proc/meminfo"), Path("/sys/fs/cgroup"))
    if sys.platform == "darwin":
        return _darwin_memory()
    if sys.platform == "win32":
        return _windows_memory()
    return Memory(0, 0)


def cpu_times() -> CpuTimes | None:
    """Busy and total processor time of the whole computer; None where it can't be read (macOS)."""
    if sys.platform.startswith("linux"):
        fields = [float(field) for field in _text("/proc/stat").partition("\n")[0].split()[1:9]]
        if len(fields) < 5:
            return None
        idle = fields[3] + fields[4]  # idle and waiting for input/output
        return CpuTimes(sum(fields) - idle, sum(fields))
    if sys.platform == "win32":
        return _windows_cpu_times()
    return None


def own_memory_bytes() -> int:
    """Main memory that this process holds now; its peak where only that can be read (macOS); 0 on Windows."""
    if sys.platform.startswith("linux"):
        pages = _text("/proc/self/statm").split()
        return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > 1 else 0
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return ""


def _linux_memory(meminfo: str, cgroup: Path) -> Memory:
    def kilobytes(name: str) -> int:
        words = _field(meminfo, name).split()
        return int(words[0]) * 1024 if words else 0

    total, available = kilobytes("MemTotal"), kilobytes("MemAvailable")
    limit, used = _text(cgroup / "memory.max").strip(), _text(cgroup / "memory.current").strip()
    if limit.isdigit() and used.isdigit() and int(limit) < total:
        return Memory(int(limit), min(available, max(0, int(limit) - int(used))))
    return Memory(total, available)


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _darwin_memory() -> Memory:
    total = _sysctl("hw.memsize")
    try:
        done = subprocess.run(["/usr/bin/vm_stat"], capture_output=True, text=True, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return Memory(int(total or 0), 0)
    page = int(_sysctl("hw.pagesize") or 4096)
    pages = [_field(done.stdout, f"Pages {kind}").rstrip(".") for kind in ("free", "inactive", "speculative")]
    return Memory(int(total or 0), sum(int(count or 0) for count in pages) * page)


def _windows_memory() -> Memory:
    class MemoryStatus(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            *[(name, ctypes.c_uint64) for name in ("total", "available", "page_total", "page_available")],
            *[(name, ctypes.c_uint64) for name in ("virtual_total", "virtual_available", "extended")],
        ]

    status: Any = MemoryStatus()
    status.length = ctypes.sizeof(MemoryStatus)
    if not _kernel32().GlobalMemoryStatusEx(ctypes.byref(status)):
        return Memory(0, 0)
    return Memory(int(status.total), int(status.available))


def _windows_cpu_times() -> CpuTimes | None:
    idle, kernel, user = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64()
    if not _kernel32().GetSystemTimes(ctypes.byref(idle), ctypes.byref(kernel), ctypes.byref(user)):
        return None
    total = kernel.value + user.value  # The kernel's time includes the idle time.
    return CpuTimes(float(total - idle.value), float(total))


def _kernel32() -> Any:
    return ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
