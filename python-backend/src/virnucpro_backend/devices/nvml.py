"""Opens NVIDIA's management library (NVML), or explains why it can't be opened.

NVML reads facts about GPUs without creating a CUDA context, so it takes no device memory and disturbs no
running job. This module imports neither torch nor numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from virnucpro_backend.problem_codes import NoGpuCode

T = TypeVar("T")

NVML_MODULE = "pynvml"
"""The module of the package nvidia-ml-py; tests replace it with a fake."""


class NvmlUnavailableError(Exception):
    """NVML can't be used here. The text is NVML's own."""

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
    """Initialise NVML. Raises NvmlUnavailableError."""
    try:
        api = importlib.import_module(NVML_MODULE)
    except ImportError as error:
        raise NvmlUnavailableError("nvml_missing", str(error)) from None
    codes: dict[Any, NoGpuCode] = {
        api.NVML_ERROR_LIBRARY_NOT_FOUND: "driver_missing",
        api.NVML_ERROR_DRIVER_NOT_LOADED: "driver_not_running",
        api.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver_updated",
        api.NVML_ERROR_NO_PERMISSION: "driver_forbidden",
    }
    try:
        api.nvmlInit()
    except api.NVMLError as error:
        code = codes.get(getattr(error, "value", None), "driver_silent")
        raise NvmlUnavailableError(code, str(error)) from None
    return Nvml(api)
