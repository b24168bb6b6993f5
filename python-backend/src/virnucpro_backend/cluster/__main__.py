"""`python -m virnucpro_backend.cluster`: compute the shares of a run as tasks of a Ray cluster.

A task runs `virnucpro compute` on whichever node Ray chooses. Ray starts it again elsewhere when its node is
lost, and an autoscaler sees the waiting tasks. This process is driven over the line protocol; when standard
input closes, it ends and so do its tasks.
"""

from __future__ import annotations

import queue
import sys
from dataclasses import dataclass, field
from typing import Any

from virnucpro_backend.cluster.connection import ClusterRefusedError, connect
from virnucpro_backend.protocol import Channel

LOOK_SECONDS = 3.0
LOST_NODE_RETRIES = 3


def compute_share(program: str, run: str, share: str, cpus: int) -> tuple[int, str, str]:
    """Compute one share on a node; return the exit code, the node's name and the last lines of output.

    Ray sends this function itself, so it imports what it needs and knows nothing of this module.
    """
    import ctypes
    import signal
    import socket
    import subprocess

    def end_with_task() -> None:
        # Ray kills only the task's own process; the program that it started must end too.
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)

    command = [program, "compute", run, "--share", share]
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
    return done.returncode, socket.gethostname(), done.stdout[-2000:]


@dataclass
class Shares:
    """The tasks of a run, one for each of its `of` shares that was asked for.

    `ray`: the package, connected. `run`: the run's folder, which all nodes read and write at this path.
    `program`: the command that starts this program on a node. `cpus`: processors of a task; 0 means one GPU.
    `most`: tasks that run at once; 0 for as many as Ray grants."""

    channel: Channel
    ray: Any
    run: str
    program: str
    of: int
    cpus: int
    most: int
    tasks: dict[Any, int] = field(default_factory=dict)
    held_back: list[int] = field(default_factory=list)

    def submit(self, shares: list[int]) -> None:
        """Ask Ray for the resources of each share; it waits until there are some."""
        self.held_back += shares
        allowed = self.most - len(self.tasks) if self.most else len(self.held_back)
        shares, self.held_back = self.held_back[: max(allowed, 0)], self.held_back[max(allowed, 0) :]
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
                code, node, output = self.ray.get(task)
                reason = "it ended" if code == 0 else f"its program ended with exit code {code}"
            except self.ray.exceptions.RayError as error:
                node, output, reason = None, str(error)[-2000:], type(error).__name__
            self.channel.emit("share_ended", share=share, node=node, reason=reason, output=output)
        self.submit([])

    def explain_wait(self) -> None:
        """Report why tasks wait: possibly no node can compute them."""
        name = "CPU" if self.cpus else "GPU"
        nodes = (node["Resources"] for node in self.ray.nodes() if node["Alive"])
        if max((node.get(name, 0) for node in nodes), default=0) < max(self.cpus, 1):
            self.channel.emit("waits", reason="no_processors" if self.cpus else "no_gpu")
        else:
            self.channel.emit("waits", reason="limit" if self.held_back else "busy")


def main() -> None:
    """Connect as the arguments say, and submit shares as the commands say, until input ends."""
    address, run, program, *counts = sys.argv[1:]
    of, cpus, most = (int(count) for count in counts)
    channel = Channel()
    channel.hello("ray")
    try:
        ray = connect(address)
    except ClusterRefusedError as error:
        channel.emit("refused", message=str(error), next_step=error.next_step)
        return
    channel.emit("connected", version=f"Ray {ray.__version__}")
    shares = Shares(channel, ray, run, program, of, cpus, most)
    while True:
        try:
            command = channel.commands.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            shares.report_ends()
            shares.explain_wait()
            continue
        if not isinstance(command, dict):
            return
        shares.submit(command["shares"])


if __name__ == "__main__":
    main()
