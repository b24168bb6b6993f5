"""`python -m virnucpro_backend.cluster`: compute the shares of a run as tasks of a Ray cluster.

A task runs `virnucpro compute` on whichever node Ray chooses. Ray starts it again elsewhere when its node is
lost, and an autoscaler sees the waiting tasks. This process is driven over the line protocol; when standard
input closes, it ends and so do its tasks.
"""

from __future__ import annotations

import os
import queue
import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from virnucpro_backend.protocol import Channel

LOOK_SECONDS = 3.0
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


def compute_share(program: list[str], run: str, share: str, cpus: int) -> tuple[int, str, str]:
    """Compute one share on a node; return the exit code, the node's name and the last line of output.

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
    return done.returncode, socket.gethostname(), last


@dataclass
class Shares:
    """The tasks of a run, one for each of its `of` shares that was asked for.

    `ray`: the package, connected. `run`: the run's folder, which all nodes read and write at this path.
    `program`: the words that start this program on a node. `cpus`: processors of a task; 0 means one GPU.
    """

    channel: Channel
    ray: Any
    run: str
    program: list[str]
    of: int
    cpus: int
    tasks: dict[Any, int] = field(default_factory=dict)

    def submit(self, shares: list[int]) -> None:
        """Ask Ray for the resources of each share; it waits until there are some."""
        resources = {"num_cpus": self.cpus} if self.cpus else {"num_cpus": 1, "num_gpus": 1}
        remote = self.ray.remote(compute_share).options(max_retries=LOST_NODE_RETRIES, **resources)
        for share in shares:
            task = remote.remote(self.program, self.run, f"{share}/{self.of}", self.cpus)
            self.tasks[task] = share

    def report_ends(self) -> None:
        """Report which tasks have ended, and how."""
        if not self.tasks:
            return
        ended, _ = self.ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=0)
        for task in ended:
            share = self.tasks.pop(task)
            try:
                code, node, last = self.ray.get(task)
                reason = "it ended" if code == 0 else f"its program ended with exit code {code}: {last}"
            except self.ray.exceptions.RayError as error:
                node, reason = None, f"{type(error).__name__}: {error}"[:500]
            self.channel.emit("share_ended", share=share, node=node, reason=reason)


def main() -> None:
    """Connect as the arguments say, and submit shares as the commands say, until input ends."""
    address, run, of, cpus, *program = sys.argv[1:]
    channel = Channel()
    channel.hello("ray")
    try:
        ray = connect(address)
    except Exception as error:
        channel.emit("refused", reason=f"{type(error).__name__}: {error}")
        return
    channel.emit("connected", version=f"Ray {ray.__version__}")
    shares = Shares(channel, ray, run, program, int(of), int(cpus))
    while True:
        try:
            command = channel.commands.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            shares.report_ends()
            continue
        if not isinstance(command, dict):
            return
        shares.submit(command["shares"])


if __name__ == "__main__":
    main()
