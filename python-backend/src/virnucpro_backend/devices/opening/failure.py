"""The error of a worker that can't load its model onto its device."""

from __future__ import annotations

from typing import Literal

LoadFailureCode = Literal[
    "model_missing",
    "model_damaged",
    "out_of_memory",
    "device_unusable",
    "precision_unsupported",
    "internal_error",
]


class LoadFailedError(Exception):
    """The model can't be loaded on this device. `message` says why and `next_step` what the user can do."""

    def __init__(self, code: LoadFailureCode, message: str, next_step: str) -> None:
        super().__init__(message)
        self.code: LoadFailureCode = code
        self.message = message
        self.next_step = next_step
