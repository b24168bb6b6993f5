"""The errors that end the preparation of a run."""

from __future__ import annotations

import errno
import sys

from virnucpro_backend.problem_codes import ProblemCode


class PrepareError(Exception):
    """Preparation can't continue. `values` are what the code's words name (electron/contract/problems.ts)."""

    def __init__(self, code: ProblemCode, **values: str) -> None:
        super().__init__(f"{code} {values}")
        self.code = code
        self.values = values
        self.file: str | None = None
        """The name of the input that was being read."""


def failed_unexpectedly(code: ProblemCode, error: Exception) -> PrepareError:
    """Make the error for a fault of this program, and write its traceback to the log."""
    sys.excepthook(type(error), error, error.__traceback__)
    return PrepareError(code, reason=f"{type(error).__name__}: {error}")


def writing_failed(error: OSError) -> PrepareError:
    """Make the error for a failure to write into the run folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PrepareError("disk_full")
    return PrepareError("folder_unwritable", reason=error.strerror or str(error))


def halves_do_not_fit(error: Exception) -> PrepareError:
    """Make the error for an unknown command, which means that engine and backend differ in version."""
    return PrepareError("protocol_version", reason=str(error))
