"""`python -m virnucpro_backend.devices.monitor`: send a `sample` of GPUs and processor every second.

Ends when standard input closes.

A value that can't be read is null, and sampling goes on: when one GPU drops out, the figures of the others
must still arrive, and a driver that fails at the start is tried again with every sample.
"""

from __future__ import annotations

import argparse
import queue
import time
from collections.abc import Sequence
from typing import Any

from virnucpro_backend.devices.host import cpu_times, memory
from virnucpro_backend.devices.nvml import Nvml, NvmlUnavailableError, open_nvml
from virnucpro_backend.protocol import Channel, EndOfCommands


class DeviceSampler:
    """Reads the figures of the given GPUs or MIG slices (by the probe's UUIDs) from NVML."""

    def __init__(self, uuids: Sequence[str]) -> None:
        self._uuids = list(uuids)
        self._nvml: Nvml | None = None
        self._last_cpu = cpu_times()

    def sample(self) -> dict[str, Any]:
        """Return the fields of one `sample` event; percentages cover the time since the previous sample."""
        ram = memory()
        return {
            "time": time.time(),
            "devices": [self._device(uuid) for uuid in self._uuids],
            "cpu_percent": self._cpu_percent(),
            "memory_used_bytes": ram.total - ram.available if ram.total else None,
        }

    def _device(self, uuid: str) -> dict[str, Any]:
        figures: dict[str, Any] = {
            "uuid": uuid,
            "utilization_percent": None,
            "memory_used_bytes": None,
            "memory_total_bytes": None,
            "temperature_c": None,
            "power_w": None,
        }
        nvml = self._opened()
        # Get a new handle each time: an old one stays dead after a GPU has fallen off the bus.
        handle = nvml and nvml.ask(nvml.api.nvmlDeviceGetHandleByUUID, uuid)
        if nvml is None or handle is None:
            return figures
        utilization = nvml.ask(nvml.api.nvmlDeviceGetUtilizationRates, handle)
        used = nvml.ask(nvml.api.nvmlDeviceGetMemoryInfo, handle)
        power = nvml.ask(nvml.api.nvmlDeviceGetPowerUsage, handle)
        if utilization is not None:
            figures["utilization_percent"] = min(100, max(0, int(utilization.gpu)))
        if used is not None:
            figures["memory_used_bytes"] = int(used.used)
            figures["memory_total_bytes"] = int(used.total)
        figures["temperature_c"] = nvml.ask(
            nvml.api.nvmlDeviceGetTemperature, handle, nvml.api.NVML_TEMPERATURE_GPU
        )
        figures["power_w"] = None if power is None else power / 1000
        return figures

    def _opened(self) -> Nvml | None:
        if self._nvml is None and self._uuids:
            try:
                self._nvml = open_nvml()
            except NvmlUnavailableError:
                return None
        return self._nvml

    def _cpu_percent(self) -> float | None:
        now, before = cpu_times(), self._last_cpu
        self._last_cpu = now
        if now.total <= before.total:
            return None
        return round(min(100.0, max(0.0, 100 * (now.busy - before.busy) / (now.total - before.total))), 1)


def main() -> None:
    """Send a `sample` event every `--interval` seconds until standard input closes."""
    parser = argparse.ArgumentParser(prog="virnucpro_backend.devices.monitor", description=__doc__)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between samples")
    parser.add_argument("--uuid", action="append", default=[], help="a GPU or MIG slice; may be repeated")
    arguments = parser.parse_args()
    if arguments.interval <= 0:
        parser.error("--interval must be above 0")
    channel = Channel()
    channel.hello("monitor")
    sampler = DeviceSampler(arguments.uuid)
    next_time = time.monotonic() + arguments.interval
    while True:
        try:
            command = channel.commands.get(timeout=max(0.0, next_time - time.monotonic()))
        except queue.Empty:
            channel.emit("sample", **sampler.sample())
            # Count from now, so that a computer that wakes from sleep sends no burst of samples.
            next_time = time.monotonic() + arguments.interval
            continue
        if isinstance(command, EndOfCommands):
            return


if __name__ == "__main__":
    main()
