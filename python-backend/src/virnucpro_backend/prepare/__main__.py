"""`python -m virnucpro_backend.prepare`: read one job as a line on standard input, and write events."""

from __future__ import annotations

import sys

from virnucpro_backend.protocol import Channel


def main() -> int:
    """Return exit status 0 after `done`, 1 after `prepare_failed`. End when standard input closes."""
    channel = Channel()
    channel.hello("prepare")

    # NumPy and its users are imported after the channel is open, so their output can't break a line.
    from virnucpro_backend.prepare.allocation import keep_freed_memory
    from virnucpro_backend.prepare.failures import PrepareError, failed_unexpectedly
    from virnucpro_backend.prepare.preparation import Preparation, parse_job

    keep_freed_memory()
    preparation = None
    try:
        preparation = Preparation(parse_job(channel.only_command()), channel.emit)
        preparation.run()
        return 0
    except PrepareError as failure:
        error = failure
    except Exception as unexpected:
        error = failed_unexpectedly("prepare_failed", unexpected)
    channel.emit(
        "prepare_failed",
        input=preparation.current_input if preparation else None,
        code=error.code,
        values=error.values,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
