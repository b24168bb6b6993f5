"""Layers that are copied to the device one by one give the same bits as layers that stay there."""

from __future__ import annotations

import pytest
import torch
from random_weights import random_sequences, randomize
from torch import Tensor

from virnucpro_backend.encoders import host_memory, streamed_layers
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.host_memory import HostMemory
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.streamed_layers import StreamedLayers
from virnucpro_backend.weights.model_folder import fill, stream_layers

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def pair(layers: int, dtype: torch.dtype, device: str) -> tuple[Esm2, Esm2]:
    """Make the same ESM-2 with resident and with streamed layers."""
    config = Esm2Config(layers=layers, width=256, heads=4, feed_forward=512)
    source = Esm2(config)
    randomize(source, seed=layers)
    state = {name: (lambda tensor=tensor: tensor) for name, tensor in source.state_dict().items()}
    with torch.device("meta"):
        resident, streamed = Esm2(config, dtype), Esm2(config, dtype)
    stream_layers(streamed, state, torch.device(device), "test", fp8=False)
    for model in (resident, streamed):
        fill(model, state, torch.device(device), "test")
    return resident, streamed


def batches(device: str) -> list[tuple[Tensor, SequenceLayout]]:
    made = []
    for seed, (length, count) in enumerate([(70, 3), (12, 9), (40, 4)]):
        tokens = torch.cat(random_sequences([length] * count, range(4, 24), (0, 2), seed=seed))
        made.append((tokens.to(device), SequenceLayout.from_lengths([length] * count, torch.device(device))))
    return made


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("layers", "dtype"),
    [(1, torch.float32), (2, torch.bfloat16), (3, torch.float16), (6, torch.float32), (7, torch.bfloat16)],
    ids=str,
)
def test_streamed_layers_give_the_same_bits(layers: int, dtype: torch.dtype, device: str) -> None:
    resident, streamed = pair(layers, dtype, device)
    assert (streamed.streamed, streamed.dtype, resident.streamed) == (True, dtype, False)
    given = batches(device)
    expected = [resident.embed(*batch) for batch in given]
    assert len({float(e.sum()) for e in expected}) == 3
    for _ in range(2):
        assert all(map(torch.equal, streamed.embed_all(given), expected))
    assert all(torch.equal(streamed.embed(*batch), e) for batch, e in zip(given, expected, strict=True))


@pytest.mark.parametrize("device", DEVICES)
def test_a_failed_sweep_does_not_affect_the_next_one(device: str) -> None:
    resident, streamed = pair(6, torch.float32, device)
    given = batches(device)
    for stop_at in range(6):
        blocks = streamed.layers.blocks()
        for _ in range(2 * stop_at + 1):
            next(blocks)
        del blocks
        assert torch.equal(streamed.embed(*given[0]), resident.embed(*given[0]))


def test_weights_are_copied_once_for_all_batches_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    _, streamed = pair(6, torch.float32, "cpu")
    fetched = []
    fill_slot = streamed_layers._Slot.fill
    monkeypatch.setattr(
        streamed_layers._Slot, "fill", lambda self, *a: (fetched.append(a[0]), fill_slot(self, *a))
    )
    for _ in range(2):
        streamed.embed_all(batches("cpu"))
    # The next sweep's first layer is fetched at the end of this one.
    assert fetched == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0]


def test_only_two_layers_are_on_the_device() -> None:
    _, streamed = pair(7, torch.float32, "cpu")
    assert isinstance(streamed.layers, StreamedLayers)
    assert len(streamed.layers) == 7
    places = {layer.qkv.weight.data_ptr() for layer in streamed.layers}
    assert len(places) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_memory_that_cannot_be_pinned_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real, refused = host_memory._pin, []

    def some(memory: Tensor) -> bool:
        if len(refused) == 0 and memory.nbytes > 0:
            refused.append(memory)
            # This range is invalid, so the driver refuses; PyTorch must not report its error later.
            return real(torch.empty(0, dtype=torch.uint8))
        return real(memory)

    monkeypatch.setattr(host_memory, "_pin", some)
    assert not HostMemory(3, 1 << 20, pin=True).pinned
    resident, streamed = pair(6, torch.bfloat16, "cuda")
    given = batches("cuda")
    assert torch.equal(streamed.embed(*given[0]), resident.embed(*given[0]))
