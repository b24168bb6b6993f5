"""What can be wrong with weights, as errors for the user."""

from __future__ import annotations

from typing import Literal

WeightsErrorCode = Literal[
    "model_unknown",
    "model_missing",
    "model_damaged",
    "weights_unreadable",
    "download_failed",
    "offline",
    "disk_full",
]


class WeightsError(Exception):
    """`code` for programs, the message for people, `next_step` for what they can do."""

    def __init__(self, code: WeightsErrorCode, message: str, next_step: str) -> None:
        super().__init__(message)
        self.code: WeightsErrorCode = code
        self.message = message
        self.next_step = next_step

    def as_json(self) -> dict[str, str]:
        """Fields of the `error` line."""
        return {"code": self.code, "message": self.message, "next_step": self.next_step}


def unreadable(name: str, why: str) -> WeightsError:
    """The error for a file that does not hold what it should."""
    return WeightsError(
        "weights_unreadable",
        f"{name} cannot be read as weights: {why}.",
        "Check that it is the published file, or get it again.",
    )
