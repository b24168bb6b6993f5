"""Reads a few hundred damaged files with each reader; electron/engine/testing/runFuzz.ts tries more."""

from __future__ import annotations

from fuzz_readers import fuzz


def test_readers_handle_any_damage() -> None:
    assert fuzz(40, seed=20_261_122) == 360
