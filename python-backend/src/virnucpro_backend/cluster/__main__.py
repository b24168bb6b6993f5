"""`python -m virnucpro_backend.cluster`: compute the shares of a run as tasks of a Ray cluster.

A task runs `virnucpro compute` on whichever node Ray chooses. Ray starts it again elsewhere when its node is
lost, and an autoscaler sees the waiting tasks. The arguments are the cluster's `host:port`, the run's folder,
which all nodes read and write at this path, the number of its shares, the processors of a task (0 for one
GPU), and the words that start this program on a node. The shares to compute come as one line of standard
input; when that closes, this process ends and so do its tasks. Each line of standard output is JSON.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

LOST_NODE_RETRIES = 3
TOKEN_PLACES = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def connect(address: str) -> Any:
    """Connect to the cluster whose head node is at `address`, `host:port`; return the package `ray`.

    If this computer has a token for clusters, Ray uses it, also if nobody has told it to."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if any(map(os.environ.get, TOKEN_PLACES)) or Path("~/.ray/auth_token").expanduser().is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    ray = import_module("ray")
    ray.init(address=address, log_to_driver=False, configure_logging=False)
    return ray


def compute_share(program: list[str], run: str, share: str, cpus: int) -> tuple[str, str]:
    """Compute one share on a node; return the node's name and how the program ended.

    Ray sends this function itself, so it imports what it needs and knows nothing of this module.
    """
    import ctypes
    import signal
    import socket
    import subprocess

    def end_with_task() -> None:
        # Ray kills only the task's own process; the program that it started must end too.
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)

    command = [*program, "compute", run, "--share", share]
    if cpus:
        command += ["--devices", f"cpu:{cpus}"]
    done = subprocess.run(
        command,
        preexec_fn=end_with_task,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last = done.stdout.strip().rpartition("\n")[2][:300]
    how = (
        "it ended" if done.returncode == 0 else f"its program ended with exit code {done.returncode}: {last}"
    )
    return socket.gethostname(), how


def compute(ray: Any, shares: list[int], run: str, of: str, cpus: int, program: list[str]) -> None:
    """Ask Ray for the resources of each share at once, and tell the end of each task."""
    resources = {"num_cpus": cpus} if cpus else {"num_cpus": 1, "num_gpus": 1}
    remote = ray.remote(compute_share).options(max_retries=LOST_NODE_RETRIES, **resources)
    tasks = {remote.remote(program, run, f"{share}/{of}", cpus): share for share in shares}
    waiting = list(tasks)
    while waiting:
        ended, waiting = ray.wait(waiting)
        for task in ended:
            try:
                node, reason = ray.get(task)
            except ray.exceptions.RayError as error:
                node, reason = None, f"{type(error).__name__}: {error}"[:500]
            tell([tasks[task], node, reason])


def tell(what: object) -> None:
    """Print a line for the engine."""
    print(json.dumps(what), flush=True)


def end_with_input() -> None:
    """End this process, and so its tasks, once standard input closes."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Connect, compute the shares that the first line names, and wait until standard input closes."""
    address, run, of, cpus, *program = sys.argv[1:]
    ray = connect(address)
    tell(f"Ray {ray.__version__}")
    shares = json.loads(sys.stdin.readline() or "[]")
    end = threading.Thread(target=end_with_input)
    end.start()
    compute(ray, shares, run, of, int(cpus), program)


if __name__ == "__main__":
    main()
