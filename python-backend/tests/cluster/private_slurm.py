"""Runs a private SLURM on this computer: munged, slurmctld and a few slurmd in a folder, not as services.

As a program it prints the variables with which SLURM's programs find it, as one JSON object, and ends
everything when its standard input closes. Exit code 3 means that SLURM can't run here, for the reason that it
prints.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
PATIENCE = 120.0
PATHS = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def missing() -> str | None:
    """The reason why SLURM can't run here; None if it can."""
    if not sys.platform.startswith("linux"):
        return "SLURM runs on Linux"
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATHS) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (Debian: slurmctld slurmd munge slurm-client)"
    if os.geteuid() != 0:
        return "slurmd gives tasks to other processes, for which it has to be root"
    return None


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class PrivateSlurm:
    """SLURM, once started, answers programs that have `environment`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = ["node0", "node1", "node2"]
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATHS}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        munge = self.folder / "munge"
        munge.mkdir(parents=True, mode=0o700)
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o400)
        # The socket's folder must be open to all, the key's folder to nobody.
        talk = self.folder / "talk"
        talk.mkdir(mode=0o755)
        talk.chmod(0o755)
        self._run_daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={munge / 'key'}",
            f"--socket={talk / 'munge.socket'}",
            f"--pid-file={munge / 'pid'}",
            f"--log-file={munge / 'log'}",
            f"--seed-file={munge / 'seed'}",
        )
        self._wait(lambda: (talk / "munge.socket").exists(), "munged")
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o755)
        self._write_configuration(talk / "munge.socket")
        self._run_daemon("slurmctld", "-D", "-c")
        self._wait(lambda: "UP" in self._answer("scontrol", "ping"), "slurmctld")
        for node in self.nodes:
            self._run_daemon("slurmd", "-D", "-N", node, "-f", str(self.folder / "slurm.conf"))
        states = ("sinfo", "-h", "-N", "-p", "main", "-o", "%T")
        self._wait(lambda: self._answer(*states).split() == ["idle"] * len(self.nodes), "slurmd")

    def end(self) -> None:
        """Kill the daemons, then all that they started, which has our configuration in its environment."""
        for daemon in self._daemons:
            daemon.kill()
            daemon.wait()
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)

    def _answer(self, *command: str) -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout

    def _write_configuration(self, munge: Path) -> None:
        host = socket.gethostname()
        controller, *ports = free_ports(1 + len(self.nodes))
        folder = self.folder
        lines = [
            "ClusterName=private",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={controller}",
            f"SlurmUser={getpass.getuser()}",
            "AuthType=auth/munge",
            f"AuthInfo=socket={munge}",
            f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool-%n",
            f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={folder}/slurmctld.log",
            f"SlurmdLogFile={folder}/slurmd-%n.log",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "MpiDefault=none",
            "SlurmdParameters=config_overrides",
            "ReturnToService=2",
            "KillWait=5",
            "SchedulerParameters=sched_interval=5,bf_interval=5,batch_sched_delay=1",
            "PreemptType=preempt/partition_prio",
            "PreemptMode=REQUEUE",
            *(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=4000"
                for node, port in zip(self.nodes, ports, strict=True)
            ),
            "PartitionName=main Nodes=ALL Default=YES OverSubscribe=NO PriorityTier=1",
            "PartitionName=urgent Nodes=ALL OverSubscribe=NO PriorityTier=10",
        ]
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")

    def _run_daemon(self, *command: str) -> None:
        with (self.folder / f"{command[0]}-{len(self._daemons)}.out").open("wb") as log:
            self._daemons.append(
                subprocess.Popen(
                    [shutil.which(command[0], path=PATHS) or command[0], *command[1:]],
                    env={**os.environ, **self.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _wait(self, there: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not there():
            if any(daemon.poll() is not None for daemon in self._daemons) or time.monotonic() > deadline:
                logs = "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.out")))
                raise RuntimeError(f"{what} did not start: {logs[-3000:]}")
            time.sleep(0.2)


def main() -> None:
    # SLURM's configuration doesn't support paths with spaces.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)
        slurm = PrivateSlurm(Path(folder) / "s")
        try:
            slurm.start()
            print(json.dumps(slurm.environment), flush=True)
            sys.stdin.read()
        finally:
            slurm.end()


if __name__ == "__main__":
    reason = missing()
    if reason is not None:
        print(reason, file=sys.stderr)
        sys.exit(3)
    main()
