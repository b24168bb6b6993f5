"""The errors that end the preparation of a run: a code, a message for the user and a next step."""

from __future__ import annotations

import errno
import sys
from enum import Enum


class FailureCode(str, Enum):
    """The closed list of reasons; the same texts are in electron/contract/protocol/prepare.ts."""

    INPUT_UNREADABLE = "input_unreadable"
    INPUT_TRUNCATED = "input_truncated"
    NOT_SEQUENCE_FILE = "not_sequence_file"
    NOT_COMPRESSED = "not_compressed"
    INPUT_CHANGED = "input_changed"
    DISK_FULL = "disk_full"
    FOLDER_UNWRITABLE = "folder_unwritable"
    INTERNAL_ERROR = "internal_error"


class PrepareError(Exception):
    """Preparation can't continue. `message`, `next_step`: for the user; `kind`: the file's real type."""

    def __init__(self, code: FailureCode, message: str, next_step: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.next_step = next_step
        self.kind = kind


def failed_unexpectedly(doing: str, error: Exception, next_step: str) -> PrepareError:
    """Make the error for a fault of this program, and write its traceback to the log."""
    sys.excepthook(type(error), error, error.__traceback__)
    return PrepareError(
        FailureCode.INTERNAL_ERROR,
        f"{doing} failed unexpectedly ({type(error).__name__}: {error}).",
        next_step,
    )


def writing_failed(error: OSError) -> PrepareError:
    """Make the error for a failure to write into the run folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PrepareError(
            FailureCode.DISK_FULL,
            f"The disk with the run folder is full ({error.strerror}).",
            "Free some space, then resume the run; nothing written so far is lost.",
        )
    return PrepareError(
        FailureCode.FOLDER_UNWRITABLE,
        f"The run folder can't be written: {error.strerror or error}.",
        "Check that the folder still exists and that you may write there, then resume the run.",
    )


def halves_do_not_fit(error: Exception) -> PrepareError:
    """Make the error for an unknown command, which means that engine and backend differ in version."""
    return PrepareError(
        FailureCode.INTERNAL_ERROR,
        f"The program's two halves do not fit together ({error}).",
        "Install the program again.",
    )
