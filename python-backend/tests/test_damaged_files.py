"""The readers of files on a few hundred damaged ones; electron/engine/testing/runFuzz.ts tries more."""

from __future__ import annotations

from fuzz_readers import fuzz


def test_readers_answer_whatever_they_are_given() -> None:
    assert fuzz(40, seed=20_261_122) == 360
