"""The engine chooses precisions by the same facts about GPUs by which a worker refuses them."""

from __future__ import annotations

import re
from pathlib import Path

from virnucpro_backend.devices.opening.amd import AMD_TARGETS
from virnucpro_backend.devices.opening.nvidia import LEAST_CAPABILITY

CHOICE = Path(__file__).parents[3] / "electron" / "engine" / "devices" / "choosePrecision.ts"


def test_capabilities_are_the_same_on_both_sides() -> None:
    table = re.search(r"POSSIBLE_FROM[^{]*{([^}]*)}", CHOICE.read_text(encoding="utf-8"))
    assert table
    possible = {
        name: (int(major), int(minor))
        for name, major, minor in re.findall(r"(\w+): \[(\d+), (\d+)\]", table[1])
    }
    assert possible == {**LEAST_CAPABILITY, "fp32": (0, 0)}


def test_amds_instruction_sets_are_the_same_on_both_sides() -> None:
    table = re.search(r"AMD_POSSIBLE_ON[^{]*{([^}]*)}", CHOICE.read_text(encoding="utf-8"))
    assert table
    possible = {
        name: tuple(re.findall(r"'(\w+)'", targets))
        for name, targets in re.findall(r"(\w+): \[([^\]]*)\]", table[1])
    }
    assert possible == {**AMD_TARGETS, "fp32": ("gfx",)}
