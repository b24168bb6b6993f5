"""`python -m virnucpro_backend.worker`: the process of one device, driven over the line protocol.

It sends `hello` and its first heartbeats before it imports PyTorch, so that the engine hears from it within
a fraction of a second. Exit codes: 0 stopped or standard input closed, 1 an error of this program, 2 a
command that breaks the protocol, 3 the device stopped working.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
from typing import NoReturn

from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.inference.status import Heartbeat, WorkerStatus
from virnucpro_backend.protocol import Channel, EndOfCommands, MalformedCommand

PROTOCOL_ERROR_EXIT_CODE = 2
FAREWELL_SECONDS = 0.2
"""The last event may find nobody reading, and a full pipe blocks."""

TOKENIZER_THREADS = "2"
"""Otherwise the tokenizer of every worker would start one thread per core."""

log = logging.getLogger("worker")


def main() -> NoReturn:
    """Carry out commands from standard input until `stop`, or until the engine is gone."""
    channel = Channel(on_eof=lambda: _input_closed(channel, heartbeat))
    set_up_device_allocator()
    os.environ.setdefault("RAYON_NUM_THREADS", TOKENIZER_THREADS)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s.%(msecs)03d %(levelname)s %(threadName)s %(name)s: %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
    )
    if os.environ.get("VIRNUCPRO_LOG_LEVEL") == "debug":
        logging.getLogger("virnucpro_backend").setLevel(logging.DEBUG)  # not the libraries' loggers
    status = WorkerStatus()
    heartbeat = Heartbeat(channel, status)
    threading.excepthook = lambda failed: _thread_failed(channel, failed)
    commands = channel.commands
    # Use a separate thread, because a signal handler must not touch a queue.
    signal.signal(
        signal.SIGTERM,
        lambda *_: threading.Thread(target=commands.put, args=({"type": "stop"},), daemon=True).start(),
    )
    with status.doing("starting"):
        channel.hello("worker")
        heartbeat.start()
        if os.environ.get("CUDA_VISIBLE_DEVICES"):
            threading.Thread(target=_open_gpu, name="driver", daemon=True).start()
        from virnucpro_backend.inference.commands import Stop, parse_worker_command
        from virnucpro_backend.inference.session import WorkerSession
        from virnucpro_backend.typed_commands import CommandError

        session = WorkerSession(channel, status)
    while True:
        fields = commands.get()
        if isinstance(fields, EndOfCommands):
            continue  # The channel's reader thread saw the end first and is already ending the process.
        if isinstance(fields, MalformedCommand):
            _refuse(channel, f"{fields.problem}: {fields.line!r}")
        try:
            command = parse_worker_command(fields)
        except CommandError as error:
            _refuse(channel, str(error))
        log.info("command %s", command)
        session.handle(command)
        if isinstance(command, Stop):
            heartbeat.end(FAREWELL_SECONDS)
            channel.emit("bye", reason="stop")
            _exit(0)


def _open_gpu() -> None:
    """Let NVIDIA's driver open the GPU, a third of a second, while PyTorch is imported.

    PyTorch then finds it open. Whatever fails here fails there again, and is reported.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        driver.cuInit(0)
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0)
    except (OSError, AttributeError) as error:
        log.info("the GPU was not opened ahead: %s", error)


def _refuse(channel: Channel, problem: str) -> NoReturn:
    """Report the problem and exit: a sender of unreadable lines can't be trusted with the others."""
    log.error("a command broke the protocol: %s", problem)
    channel.emit("log", level="error", message=f"A command broke the protocol: {problem}")
    _exit(PROTOCOL_ERROR_EXIT_CODE)


def _input_closed(channel: Channel, heartbeat: Heartbeat) -> None:
    """End at once, whatever the device is doing: the engine is gone, and no orphan may hold the device."""
    heartbeat.end(FAREWELL_SECONDS)
    farewell = threading.Thread(
        target=channel.emit, args=("bye",), kwargs={"reason": "stdin_closed"}, daemon=True
    )
    farewell.start()
    farewell.join(FAREWELL_SECONDS)
    log.info("standard input closed")
    _exit(0)


def _thread_failed(channel: Channel, failed: threading.ExceptHookArgs) -> None:
    error = failed.exc_value
    log.critical("thread %s failed", failed.thread and failed.thread.name, exc_info=error)
    channel.emit("log", level="error", message=f"The worker failed: {type(error).__name__}: {error}")
    _exit(1)


def _exit(code: int) -> NoReturn:
    """Leave without PyTorch's clean-up, which can hang while the device is busy."""
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
