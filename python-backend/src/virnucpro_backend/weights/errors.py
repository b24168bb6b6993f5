"""Errors about weights, for the user."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

WeightsErrorCode = Literal[
    "model_unknown",
    "model_missing",
    "model_damaged",
    "network_unreachable",
    "network_proxy",
    "network_blocked",
    "network_certificate",
    "download_failed",
    "weights_busy",
    "import_refused",
    "disk_full",
]
"""Codes of electron/contract/problems.ts."""


class WeightsError(Exception):
    """A problem with weights: `code` is for programs, `message` for users. `next_step`: None for the usual
    one of the code. `path`: the file with the problem, if it is one of a file."""

    def __init__(
        self, code: WeightsErrorCode, message: str, next_step: str | None = None, *, path: str = ""
    ) -> None:
        super().__init__(message)
        self.path = path
        self.code: WeightsErrorCode = code
        self.message = message
        self.next_step = next_step

    def as_json(self) -> dict[str, str | None]:
        """Fields of the `error` line."""
        return {"code": self.code, "message": self.message, "next_step": self.next_step}


def unreadable(name: str, why: str) -> WeightsError:
    """Make the error for a file with unexpected content."""
    return WeightsError("model_damaged", f"{name} cannot be read as weights: {why}.", path=name)


def missing(path: Path) -> WeightsError:
    """Make the error for a file of weights that is not there."""
    return WeightsError("model_missing", f"{path} is missing.", path=str(path))
