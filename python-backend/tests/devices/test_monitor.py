from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pynvml
import pytest
from fake_nvml import FakeGpu, fake_nvml

from virnucpro_backend.devices.monitor import DeviceSampler

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "monitor-event.json").read_text(encoding="utf-8")
)


def sampled(sampler: DeviceSampler) -> dict[str, object]:
    fields = sampler.sample()
    jsonschema.validate({"type": "sample", **fields}, SCHEMA)
    return fields


def test_a_lost_gpu_does_not_hide_the_others_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [FakeGpu("GPU-a", free=1_000, total=3_000), FakeGpu("GPU-b", power_mw=None)]
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(gpus))
    sampler = DeviceSampler(["GPU-b", "GPU-a", "GPU-unknown"])
    b, a, unknown = sampled(sampler)["devices"]  # type: ignore[misc]
    assert a == {
        "uuid": "GPU-a",
        "utilization_percent": 98,
        "memory_used_bytes": 2_000,
        "memory_total_bytes": 3_000,
        "temperature_c": 57,
        "power_w": 412.3,
    }
    assert (b["power_w"], b["utilization_percent"]) == (None, 98)
    assert {value for key, value in unknown.items() if key != "uuid"} == {None}

    gpus[1].lost = True
    lost, alive, _ = sampled(sampler)["devices"]  # type: ignore[misc]
    assert {value for key, value in lost.items() if key != "uuid"} == {None}
    assert alive["utilization_percent"] == 98
    gpus[1].lost = False
    assert sampled(sampler)["devices"][0]["utilization_percent"] == 98  # type: ignore[index]


def test_a_driver_that_starts_late_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml([], init_error=pynvml.NVML_ERROR_DRIVER_NOT_LOADED))
    sampler = DeviceSampler(["GPU-a"])
    assert sampled(sampler)["devices"][0]["utilization_percent"] is None  # type: ignore[index]
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml([FakeGpu("GPU-a")]))
    assert sampled(sampler)["devices"][0]["utilization_percent"] == 98  # type: ignore[index]


def test_the_process_samples_until_its_input_closes() -> None:
    module = [sys.executable, "-X", "utf8", "-m", "virnucpro_backend.devices.monitor"]
    options = ["--interval", "0.05", "--uuid", "GPU-x"]
    child = subprocess.Popen([*module, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    events = [json.loads(child.stdout.readline()) for _ in range(4)]
    for event in events:
        jsonschema.validate(event, SCHEMA)
    assert [event["type"] for event in events] == ["hello", "sample", "sample", "sample"]
    assert events[0]["role"] == "monitor"
    assert events[1]["time"] < events[2]["time"] <= time.time()
    if sys.platform.startswith("linux"):
        assert events[3]["memory_used_bytes"] > 0
    child.stdin.close()
    assert child.wait(timeout=60) == 0
