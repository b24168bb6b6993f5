"""What every check reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from virnucpro_backend.devices.precisions import Precision

Verdict = Literal["works", "differs", "weak", "no_answer"]
"""`differs`: from right results by more than rounding explains. `weak`: a model that can't tell viruses."""


@dataclass(frozen=True)
class CheckResult:
    """The result in one precision. `figures`: what was measured, ready for JSON; None if nothing was.
    `problem`: why, as a sentence."""

    precision: Precision
    verdict: Verdict
    figures: dict[str, Any] | None
    problem: str | None = None
