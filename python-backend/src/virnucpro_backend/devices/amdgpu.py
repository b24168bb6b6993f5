"""AMD GPUs on Linux, read from the kernel driver's files without ROCm, torch or opening a device.

The driver's compute part lists the GPUs that can compute in its topology (`/sys/class/kfd`); their memory,
load and sensors are in the folder of the graphics device (`/sys/class/drm/renderD*`). If a file is missing or
can't be read, only its figure is lost, not the GPU. Written after the kernel's documentation and AMD's
runtime, and tested only on made-up files of that format.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AMD = 0x1002
"""PCI vendor number."""

_TOPOLOGY = "sys/class/kfd/kfd/topology/nodes"
_PROCESSES = "sys/class/kfd/kfd/proc"
_NAMES = "usr/share/libdrm/amdgpu.ids"


@dataclass(frozen=True)
class AmdGpu:
    """One GPU. `index`: the number that ROCm's runtime gives it. `uuid`: `GPU-` and 16 hexadecimal digits as
    the runtime writes it, or `AMD-` and the PCI address for a GPU without a unique number, such as some
    consumer cards and all integrated GPUs. `gfx_target`: its instruction set, such as gfx1100.
    `permitted`: whether this account may open it. `kfd_id`: the driver's number; `folder`: its sysfs files.
    """

    index: int
    uuid: str
    name: str
    gfx_target: str
    integrated: bool
    permitted: bool
    kfd_id: int
    folder: Path

    def memory(self) -> tuple[int, int]:
        """Bytes of the GPU's own memory: total, and used by all processes; 0 if the driver doesn't say. An
        integrated GPU's is the part of main memory that the firmware reserved.
        """
        total, used = (_number(self.folder / f"mem_info_vram_{which}") or 0 for which in ("total", "used"))
        return total, min(used, total)

    def figures(self) -> dict[str, Any]:
        """Current load, memory, temperature (degrees Celsius) and power (watts); None where unreadable."""
        busy = _number(self.folder / "gpu_busy_percent")
        used, total = (_number(self.folder / f"mem_info_vram_{which}") for which in ("used", "total"))
        temperature = _first_number(self._sensors("temp1_input"))
        # Prefer the mean over the last moments; newer cards report only the current power.
        power = _first_number([*self._sensors("power1_average"), *self._sensors("power1_input")])
        return {
            "utilization_percent": None if busy is None else min(100, max(0, busy)),
            "memory_used_bytes": used,
            "memory_total_bytes": total,
            "temperature_c": None if temperature is None else temperature / 1000,
            "power_w": None if power is None else max(0, power) / 1_000_000,
        }

    def processes(self, root: Path = Path("/")) -> list[dict[str, Any]]:
        """Programs that hold memory on the GPU to compute, as the driver counts them."""
        found = []
        for folder in _numbered(root / _PROCESSES):
            held = _number(folder / f"vram_{self.kfd_id}")
            if held is not None and held > 0:
                name = _text(root / "proc" / folder.name / "comm")
                found.append({"pid": int(folder.name), "name": name or None, "memory_bytes": held})
        return found

    def _sensors(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"hwmon/hwmon*/{name}"))


def amd_gpus(root: Path = Path("/")) -> list[AmdGpu]:
    """The AMD GPUs that ROCm's runtime can see here, in its order; empty on systems other than Linux.

    Like the runtime, this counts the nodes that are readable, have arithmetic units, and have a render device
    (which may be missing in a container). `root`: the folder that holds sys, dev and usr.
    """
    found: list[AmdGpu] = []
    nodes = [(node, _properties(node)) for node in _numbered(root / _TOPOLOGY)]
    unique_ids = [properties.get("unique_id", 0) for _, properties in nodes]
    for node, properties in nodes:
        render = root / "dev/dri" / f"renderD{properties.get('drm_render_minor', 0)}"
        if not properties.get("simd_count") or properties.get("vendor_id") != AMD or not render.exists():
            continue
        folder = root / "sys/class/drm" / render.name / "device"
        unique_id = properties.get("unique_id", 0)
        # Under some drivers the partitions of one GPU share a number, which then identifies none of them.
        is_named = unique_id != 0 and unique_ids.count(unique_id) == 1
        uuid = f"GPU-{unique_id:016x}" if is_named else f"AMD-{_pci_address(properties)}"
        if any(gpu.uuid == uuid for gpu in found):
            uuid += f"-{len(found)}"
        target = gfx_target(properties.get("gfx_target_version", 0))
        found.append(
            AmdGpu(
                index=len(found),
                uuid=uuid,
                name=_name(folder, root / _NAMES) or f"AMD GPU ({target})",
                gfx_target=target,
                integrated=_is_integrated(properties, folder),
                permitted=all(os.access(path, os.R_OK | os.W_OK) for path in (root / "dev/kfd", render)),
                kfd_id=_number(node / "gpu_id") or 0,
                folder=folder,
            )
        )
    return found


def gfx_target(version: int) -> str:
    """Convert the driver's number of an instruction set, such as 90402, to the compilers' name: gfx942. Minor
    version and stepping become hexadecimal digits, so 90010 is gfx90a.
    """
    return f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}"


def _is_integrated(properties: dict[str, int], folder: Path) -> bool:
    """Whether the GPU is part of a processor: drivers list it with cores, or give it a vddnb voltage."""
    if properties.get("cpu_cores_count", 0) > 0:
        return True
    return any(_text(label) == "vddnb" for label in folder.glob("hwmon/hwmon*/in1_label"))


def _name(folder: Path, names: Path) -> str | None:
    """The name stored on the card if there is one, else libdrm's name for its device and revision."""
    name = _text(folder / "product_name")
    if name:
        return name
    device, revision = (_number(folder / file) for file in ("device", "revision"))
    if device is None or revision is None:
        return None
    wanted = [f"{device:04X}", f"{revision:02X}"]
    for line in (_text(names) or "").splitlines():
        fields = [field.strip() for field in line.split(",", 2)]
        if [field.upper() for field in fields[:2]] == wanted and len(fields) == 3:
            return fields[2]
    return None


def _pci_address(properties: dict[str, int]) -> str:
    location = properties.get("location_id", 0)
    bus, device, function = location >> 8 & 0xFF, location >> 3 & 0x1F, location & 7
    return f"{properties.get('domain', 0):04x}:{bus:02x}:{device:02x}.{function}"


def _properties(node: Path) -> dict[str, int]:
    """Read the lines `name number`; empty if the driver hides the node from this process."""
    pairs = (line.split() for line in (_text(node / "properties") or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _numbered(folder: Path) -> Iterator[Path]:
    """The sub-folders whose names are numbers, in numeric order."""
    try:
        names = [name for name in os.listdir(folder) if name.isdecimal()]
    except OSError:
        return
    yield from (folder / name for name in sorted(names, key=int))


def _first_number(paths: list[Path]) -> int | None:
    return next((number for number in map(_number, paths) if number is not None), None)


def _number(path: Path) -> int | None:
    """The integer in a file, decimal or as 0x...; None if there is none."""
    text = _text(path)
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
