"""Loads a worker's model on GPUs of any size. The GPU is simulated: the demo model is in main memory, and the
test sets the free memory, the needs of batches, and when memory runs out.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import msgspec
import pytest
import torch
from running_worker import LOAD

from virnucpro_backend.devices.host import Memory
from virnucpro_backend.devices.opening import LoadFailedError, OpenDevice
from virnucpro_backend.inference import loading
from virnucpro_backend.inference.commands import Load, parse_worker_command
from virnucpro_backend.inference.loading import ReadyModel, open_and_load, remarks
from virnucpro_backend.inference.memory.memory_profile import MemoryProfile, Placement
from virnucpro_backend.inference.memory.model_memory import ModelSizes, software
from virnucpro_backend.weights.model_folder import LoadedModel

GIB = 1 << 30
PER_TOKEN = 64 << 10


class SimulatedGpu:
    """A GPU on which ESM-2 takes 5 GiB, or 0.5 GiB at a time if its layers are streamed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, total: int, free: int) -> None:
        self.total, self.free = total, free
        self.measured: list[Placement] = []
        self.loaded: list[Placement] = []
        self.main_memory = 16 * GIB
        self.fixed: dict[Placement, int] = {"resident": 5 * GIB, "streamed": GIB // 2}
        load_model = loading.load_model

        def load(*where: Any, streamed: bool, beside: AbstractContextManager[None]) -> LoadedModel:
            placement: Placement = "streamed" if streamed else "resident"
            self.loaded.append(placement)
            if self.fixed[placement] > self.free:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return load_model(*where, streamed=streamed, beside=beside)

        def measure(model: LoadedModel) -> MemoryProfile:
            placement: Placement = "streamed" if model.esm2.streamed else "resident"
            self.measured.append(placement)
            return MemoryProfile(placement, self.fixed[placement], PER_TOKEN, software(model))

        opened = OpenDevice(torch.device("cpu"), "Card", "GPU-1", total, None)
        monkeypatch.setattr(loading, "open_device", lambda *_: opened)
        monkeypatch.setattr(loading, "allowance", lambda *_: self.free)
        monkeypatch.setattr(loading.host, "memory", lambda: Memory(32 * GIB, self.main_memory))
        monkeypatch.setattr(loading, "load_model", load)
        monkeypatch.setattr(loading, "measure_profile", measure)
        sizes = ModelSizes(weights=5 * GIB, layers=5 * GIB, per_token=PER_TOKEN)
        monkeypatch.setattr(ModelSizes, "of", lambda *_: sizes)


def command(**changes: object) -> Load:
    given = parse_worker_command({**LOAD, "device": "cuda", "tokens_per_batch": 16_384})
    assert isinstance(given, Load)
    return msgspec.structs.replace(given, **changes)


def load(**changes: object) -> tuple[ReadyModel, str]:
    given = command(**changes)
    ready = open_and_load(given)
    return ready, " ".join(remarks(ready, given))


@pytest.mark.parametrize(
    ("total", "free", "placement", "tokens", "words"),
    [
        (24, 23.5, "resident", 16_384, ""),
        (8, 7.5, "resident", 16_384, ""),
        (8, 6.0, "resident", 8192, "8,192 tokens instead of 16,384: 6.0 of this GPU's 8.0 GiB"),
        (6, 5.5, "resident", 2048, "2,048 tokens instead of 16,384"),
        (6, 5.3, "streamed", 16_384, "layers stay in main memory"),
        (4, 3.5, "streamed", 16_384, "3.5 of this GPU's 4.0 GiB"),
        (2, 1.0, "streamed", 2048, "layers stay in main memory.*2,048 tokens"),
        (24, 3.5, "streamed", 16_384, "Other programs hold much of this GPU's memory"),
    ],
)
def test_free_memory_decides_placement_and_batches(
    monkeypatch: pytest.MonkeyPatch, total: int, free: float, placement: str, tokens: int, words: str
) -> None:
    SimulatedGpu(monkeypatch, total * GIB, int(free * GIB))
    ready, said = load()
    assert (ready.placement, ready.tokens_per_batch) == (placement, tokens)
    assert re.search(words, said) if words else said == ""
    assert ("Other programs" in said) == (bool(said) and total - free > 1.5)


def test_a_valid_measurement_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu(monkeypatch, 8 * GIB, 7 * GIB)
    first, _ = load()
    assert gpu.measured == ["resident"]
    # An earlier worker's correction after running out of memory is kept instead of a new measurement.
    assert first.profile is not None
    learnt = MemoryProfile("resident", first.profile.fixed_bytes, 4 * PER_TOKEN, first.profile.code)
    second, _ = load(memory_profile=learnt)
    assert gpu.measured == ["resident"]
    assert (second.profile, second.tokens_per_batch) == (learnt, 4096)
    # Other software or another placement needs a new measurement.
    load(memory_profile=MemoryProfile("resident", 1, 1, "PyTorch 1.0"))
    gpu.free = 4 * GIB
    third, _ = load(memory_profile=learnt)
    assert gpu.measured == ["resident", "resident", "streamed"]
    assert third.placement == "streamed"


def test_memory_taken_by_other_programs_is_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu(monkeypatch, 8 * GIB, 7 * GIB)
    gpu.fixed["resident"] = 8 * GIB  # Memory seems to suffice, but loading fails.
    ready, _ = load()
    assert gpu.loaded == ["resident", "streamed"]
    assert (ready.placement, ready.tokens_per_batch) == ("streamed", 16_384)
    gpu.fixed = {"resident": 7 * GIB - (280 << 20), "streamed": GIB // 2}  # Too little is left after loading.
    assert load()[0].placement == "streamed"


def test_placement_can_be_forced_and_batches_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu(monkeypatch, 24 * GIB, 23 * GIB)
    ready, said = load(placement="streamed", most_tokens_per_batch=1000)
    assert (ready.placement, ready.tokens_per_batch) == ("streamed", 1000)
    assert "As requested" in said
    gpu.free = 3 * GIB
    with pytest.raises(LoadFailedError) as failure:
        load(placement="resident")
    assert failure.value.code == "model_too_large"


def test_too_little_memory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu(monkeypatch, 8 * GIB, GIB // 2)
    with pytest.raises(LoadFailedError) as failure:
        load()
    assert failure.value.code == "model_too_large"
    assert failure.value.values == {"free": "0.5", "needed": "5.0"}
    gpu.free, gpu.main_memory = 3 * GIB, 4 * GIB
    with pytest.raises(LoadFailedError) as failure:
        load()
    assert failure.value.code == "main_memory_too_small"
    assert failure.value.values == {"free": "4.0", "needed": "5.0"}
    assert gpu.loaded == ["streamed"]


def test_the_fp32_model_is_loaded_where_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu(monkeypatch, 8 * GIB, 7 * GIB)
    loaded: list[dict[str, bool]] = []
    monkeypatch.setattr(loading, "load_model", lambda *_, **where: loaded.append(where))
    loading.load_in_fp32(command(), torch.device("cuda"))
    gpu.free = 2 * GIB
    loading.load_in_fp32(command(), torch.device("cuda"))
    loading.load_in_fp32(command(), torch.device("cpu"))
    assert loaded == [{"streamed": False}, {"streamed": True}, {"mapped": True}]


@pytest.mark.parametrize(("device", "maker"), [("mps", "Apple"), ("cuda", None), ("cpu", None)])
def test_untested_gpus_are_reported(monkeypatch: pytest.MonkeyPatch, device: str, maker: str | None) -> None:
    SimulatedGpu(monkeypatch, 24 * GIB, 23 * GIB)
    _, said = load(device=device)
    assert said == (
        f"{maker} GPUs were never tested: compare some results with those of the processor." if maker else ""
    )


def test_devices_that_do_not_count_their_memory_are_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    for placement in ("auto", "streamed"):
        ready, said = load(device="cpu", placement=placement, tokens_per_batch=512)
        assert (ready.tokens_per_batch, ready.profile, ready.memory_free) == (512, None, None)
        assert (ready.placement == "streamed") == (placement == "streamed") == ("As requested" in said)
