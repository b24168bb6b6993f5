"""Why a part or a device fails: a code, a message for the user, and the traceback for the log."""

from __future__ import annotations

import errno
import traceback

import torch

from virnucpro_backend.inference.memory.device_memory import is_out_of_memory
from virnucpro_backend.problem_codes import PartFailureCode

_FULL_DISK = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LOST_DEVICE_WORDS = ("CUDA error", "CUDA driver error", "cuDNN error", "CUBLAS_STATUS_")


class PartFailedError(Exception):
    """A part could not be scored. `message` is for the user, `detail` for the log."""

    def __init__(self, code: PartFailureCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code: PartFailureCode = code
        self.message = message
        self.detail = detail


def part_failure(error: BaseException) -> PartFailedError:
    """Convert an exception of the scoring loop to a PartFailedError, with the traceback as its detail."""
    if isinstance(error, PartFailedError):
        return error
    detail = "".join(traceback.format_exception(error))
    if is_out_of_memory(error):
        return PartFailedError("out_of_memory", "The device ran out of memory.", detail)
    if is_device_lost(error):
        return PartFailedError("device_lost", f"The device stopped working: {_first_line(error)}", detail)
    return PartFailedError("internal_error", f"{type(error).__name__}: {_first_line(error)}", detail)


def write_failure(error: OSError, path: str) -> PartFailedError:
    """Make the error for a result file that can't be written."""
    detail = "".join(traceback.format_exception(error))
    if error.errno in _FULL_DISK:
        return PartFailedError("disk_full", f"The disk is full: {path} could not be written.", detail)
    return PartFailedError("folder_unwritable", error.strerror or str(error), detail)


def is_device_lost(error: BaseException) -> bool:
    """Whether the device's context is lost, so that this process can't compute any more."""
    accelerator_error = getattr(torch, "AcceleratorError", None)
    if accelerator_error is not None and isinstance(error, accelerator_error):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _LOST_DEVICE_WORDS)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0]
