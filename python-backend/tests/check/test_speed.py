"""A device's speed is measured with encoders that are small enough for any processor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from virnucpro_backend.check import speed as module
from virnucpro_backend.encoders.dnabert_s import DNABERT_S
from virnucpro_backend.encoders.esm2 import ESM2_3B


@pytest.fixture(autouse=True)
def small_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    size = {"width": 64, "heads": 2, "feed_forward": 128}
    monkeypatch.setattr(module, "ESM2_3B", replace(ESM2_3B, **size))
    monkeypatch.setattr(module, "DNABERT_S", replace(DNABERT_S, layers=1, **size))


def rows_measured() -> list[dict[str, Any]]:
    figures = module.measure_speed("cpu", "fp32", seconds=0.1).figures
    assert figures is not None
    return cast(list[dict[str, Any]], figures["rows"])


def test_a_processor_is_measured_at_every_batch_size() -> None:
    rows = rows_measured()
    assert [row["tokens_per_batch"] for row in rows] == [168, 504, 2016]
    assert all(rate > 0 for row in rows for rate in row.values())


def test_running_out_of_memory_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    products = module._products

    def room_for_less(encoder, rows, *rest):  # type: ignore[no-untyped-def]
        if rows > 1000:
            raise MemoryError
        return products(encoder, rows, *rest)

    monkeypatch.setattr(module, "_products", room_for_less)
    monkeypatch.setattr(module, "is_out_of_memory", lambda error: isinstance(error, MemoryError))
    rows = rows_measured()
    assert [row["tokens_per_batch"] for row in rows] == [168, 504]
