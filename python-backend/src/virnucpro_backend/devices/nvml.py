"""Opens NVIDIA's management library (NVML), or explains why it can't be opened.

NVML reads facts about GPUs without creating a CUDA context, so it takes no device memory and disturbs no
running job. This module imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, TypeVar

T = TypeVar("T")

NVML_MODULE = "pynvml"
"""The module of the package nvidia-ml-py; tests replace it with a fake."""


NoGpuCode = Literal[
    "package_missing",
    "no_driver",
    "driver_not_running",
    "restart_needed",
    "no_permission",
    "no_answer",
    "no_gpu_answers",
]
"""Why there is no NVIDIA GPU; the same texts are in electron/contract/protocol/devices.ts."""


class NvmlUnavailableError(Exception):
    """NVML can't be used here. The text tells the user why; the window translates the code."""

    def __init__(self, code: NoGpuCode, text: str) -> None:
        super().__init__(text)
        self.code: NoGpuCode = code


class Nvml:
    """An initialised NVML. `api` is the `pynvml` module (or a test's double)."""

    def __init__(self, api: Any) -> None:
        self.api = api

    def ask(self, question: Callable[..., T], *arguments: object) -> T | None:
        """Make one NVML call; None if this GPU or driver doesn't support it."""
        try:
            return question(*arguments)
        except self.api.NVMLError:
            return None

    def handles(self) -> list[tuple[int, Any]]:
        """The number (as nvidia-smi shows it) and the handle of each GPU that answers."""
        found = []
        for index in range(self.ask(self.api.nvmlDeviceGetCount) or 0):
            handle = self.ask(self.api.nvmlDeviceGetHandleByIndex, index)
            if handle is not None:
                found.append((index, handle))
        return found

    def slices(self, handle: Any) -> list[Any]:
        """The handles of a GPU's MIG slices; empty if MIG is off or not supported."""
        found = []
        for index in range(self.ask(self.api.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
            piece = self.ask(self.api.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
            if piece is not None:
                found.append(piece)
        return found


def open_nvml() -> Nvml:
    """Initialise NVML. Raises NvmlUnavailableError with the reason for the user."""
    try:
        api = importlib.import_module(NVML_MODULE)
    except ImportError:
        raise NvmlUnavailableError(
            "package_missing",
            "The Python environment lacks the package that asks the NVIDIA driver about GPUs (nvidia-ml-py).",
        ) from None
    try:
        api.nvmlInit()
    except api.NVMLError as error:
        raise NvmlUnavailableError(*_reason(api, error)) from None
    return Nvml(api)


def _reason(api: Any, error: Any) -> tuple[NoGpuCode, str]:
    reasons: dict[Any, tuple[NoGpuCode, str]] = {
        api.NVML_ERROR_LIBRARY_NOT_FOUND: (
            "no_driver",
            "No NVIDIA driver software is installed on this computer. "
            "On a computer without an NVIDIA GPU that is normal.",
        ),
        api.NVML_ERROR_DRIVER_NOT_LOADED: (
            "driver_not_running",
            "NVIDIA software is installed, but its driver is not running. "
            "Either this computer has no NVIDIA GPU or the driver must be installed again.",
        ),
        api.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
            "restart_needed",
            "The NVIDIA driver was updated and the computer has not been restarted since. Restart it.",
        ),
        api.NVML_ERROR_NO_PERMISSION: (
            "no_permission",
            "This user account is not allowed to talk to the NVIDIA driver.",
        ),
    }
    known = reasons.get(getattr(error, "value", None))
    return known or ("no_answer", f"The NVIDIA driver does not answer: {error}.")
