"""The engine chooses precisions by the same compute capabilities by which a worker refuses them."""

from __future__ import annotations

import re
from pathlib import Path

from virnucpro_backend.inference.device import LEAST_CAPABILITY

CHOICE = Path(__file__).parents[3] / "electron" / "engine" / "devices" / "choosePrecision.ts"


def test_capabilities_are_the_same_on_both_sides() -> None:
    table = re.search(r"POSSIBLE_FROM[^{]*{([^}]*)}", CHOICE.read_text(encoding="utf-8"))
    assert table
    possible = {
        name: (int(major), int(minor))
        for name, major, minor in re.findall(r"(\w+): \[(\d+), (\d+)\]", table[1])
    }
    assert possible == {**LEAST_CAPABILITY, "fp32": (0, 0)}
