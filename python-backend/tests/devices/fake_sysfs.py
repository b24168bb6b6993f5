"""Makes trees of /sys, /dev and /proc like those of Linux's amdgpu driver, with real GPUs' numbers.

A node's `properties` has the lines that `kfd_topology.c` of Linux 6.x writes, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

GIB = 1 << 30

_PROPERTIES = """\
cpu_cores_count {cpu_cores}
simd_count {simd_count}
mem_banks_count 1
caches_count 206
io_links_count 1
p2p_links_count 0
cpu_core_id_base 0
simd_id_base {simd_id_base}
max_waves_per_simd 16
lds_size_in_kb 64
gds_size_in_kb 0
num_gws 64
wave_front_size 32
array_count 12
simd_arrays_per_engine 2
cu_per_simd_array 8
simd_per_cu 2
max_slots_scratch_cu 32
gfx_target_version {gfx_target_version}
vendor_id {vendor}
device_id {device}
location_id {location}
domain {domain}
drm_render_minor {render_minor}
hive_id 0
num_sdma_engines 2
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine 6
num_cp_queues 8
max_engine_clk_fcompute 2304
local_mem_size 0
fw_version 550
capability 671588992
debug_prop 1511
sdma_fw_version 19
unique_id {unique_id}
num_xcc 1
max_engine_clk_ccompute 4700
"""

AMDGPU_IDS = """\
# List of AMDGPU IDs
#
# Syntax:
# device_id,\trevision_id,\tproduct_name        <-- single tab after comma

1.0.0
744C,\tC8,\tAMD Radeon RX 7900 XTX
744C,\tCC,\tAMD Radeon RX 7900 XT
73BF,\tC1,\tAMD Radeon RX 6800 XT
164E,\tC1,\tAMD Radeon Graphics, two \t commas
"""


@dataclass
class FakeAmdGpu:
    """By default, a Radeon RX 7900 XTX. `files`: the files of its sysfs folder, None for one left out;
    `sensors`: the files of its hwmon folder.
    """

    gfx_target_version: int = 110000
    device: int = 0x744C
    revision: int = 0xC8
    unique_id: int = 0x3F2A90B1C4D5E6F7
    render_minor: int = 128
    bus: int = 3
    gpu_id: int = 40_000
    cpu_cores: int = 0
    files: dict[str, str | None] = field(default_factory=dict)
    sensors: dict[str, str] = field(
        default_factory=lambda: {
            "name": "amdgpu",
            "in0_label": "vddgfx",
            "temp1_label": "edge",
            "temp1_input": "47000",
            "power1_average": "293000000",
        }
    )


XTX = FakeAmdGpu()
RX_6800_XT = FakeAmdGpu(
    gfx_target_version=100300,
    device=0x73BF,
    revision=0xC1,
    unique_id=0,
    render_minor=129,
    bus=0x0A,
    gpu_id=50_000,
    files={"mem_info_vram_total": str(16 * GIB), "mem_info_vram_used": str(GIB)},
    sensors={"name": "amdgpu", "power1_input": "41000000", "temp1_input": "35000"},
)
RYZEN_GRAPHICS = FakeAmdGpu(
    gfx_target_version=100306,
    device=0x164E,
    revision=0xC1,
    unique_id=0,
    render_minor=130,
    bus=0x13,
    gpu_id=60_000,
    files={"mem_info_vram_total": str(GIB // 2), "mem_info_vram_used": "16777216"},
    sensors={"name": "amdgpu", "in0_label": "vddgfx", "in1_label": "vddnb", "power1_average": "9000000"},
)
MI210 = FakeAmdGpu(
    gfx_target_version=90010,
    device=0x740F,
    revision=2,
    unique_id=0x00AB12CD34EF5678,
    render_minor=131,
    bus=0x83,
    gpu_id=70_000,
    files={
        "mem_info_vram_total": str(64 * GIB),
        "mem_info_vram_used": "11440128",
        "product_name": "Instinct MI210",
    },
)


def make_tree(root: Path, gpus: list[FakeAmdGpu]) -> Path:
    """Make the tree of a computer with a processor (node 0) and these GPUs (nodes 1, 2, ...)."""
    write(root / "usr/share/libdrm/amdgpu.ids", AMDGPU_IDS)
    write(root / "dev/kfd", "")
    _node(root, 0, 0, FakeAmdGpu(0, 0, 0, 0, 0, 0, cpu_cores=16), simd_count=0, vendor=0)
    for number, gpu in enumerate(gpus, start=1):
        _node(root, number, gpu.gpu_id, gpu, simd_count=192, vendor=0x1002)
        write(root / f"dev/dri/renderD{gpu.render_minor}", "")
        folder = root / f"sys/class/drm/renderD{gpu.render_minor}/device"
        files: dict[str, str | None] = {
            "vendor": "0x1002",
            "device": f"0x{gpu.device:04x}",
            "revision": f"0x{gpu.revision:02x}",
            "mem_info_vram_total": str(24 * GIB),
            "mem_info_vram_used": str(2 * GIB),
            "gpu_busy_percent": "98",
            "product_name": "",
            **gpu.files,
        }
        for name, text in files.items():
            if text is not None:
                write(folder / name, f"{text}\n")
        for name, text in gpu.sensors.items():
            write(folder / "hwmon/hwmon4" / name, f"{text}\n")
    return root


def hold_memory(root: Path, gpu: FakeAmdGpu, pid: int, name: str, n_bytes: int) -> None:
    """Add a process that computes on a GPU, as the driver and /proc show it."""
    write(root / f"sys/class/kfd/kfd/proc/{pid}/vram_{gpu.gpu_id}", f"{n_bytes}\n")
    write(root / f"proc/{pid}/comm", f"{name}\n")


def node_folder(root: Path, number: int) -> Path:
    return root / "sys/class/kfd/kfd/topology/nodes" / str(number)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _node(root: Path, number: int, gpu_id: int, gpu: FakeAmdGpu, *, simd_count: int, vendor: int) -> None:
    folder = node_folder(root, number)
    write(folder / "gpu_id", f"{gpu_id}\n")
    write(
        folder / "properties",
        _PROPERTIES.format(
            cpu_cores=gpu.cpu_cores,
            simd_count=simd_count,
            simd_id_base=2147487744 if simd_count else 0,
            gfx_target_version=gpu.gfx_target_version,
            vendor=vendor,
            device=gpu.device,
            location=gpu.bus << 8,
            domain=0,
            render_minor=gpu.render_minor,
            unique_id=gpu.unique_id,
        ),
    )
