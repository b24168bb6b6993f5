"""The pool and its tasks through a made-up SLURM, with a made-up worker: nothing is computed.

The real SLURM and the real worker are in `slurm.long.test.ts`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running_pool import Event, RunningPool

from virnucpro_backend.cluster.slurm.answers import describe_waiting, refusal

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SLURM's nodes run Linux"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="batch scripts are bash's"),
]

QUICK = "import virnucpro_backend.cluster.slurm.pool as s\ns.POLL_SECONDS = 0.05; s.QUEUE_SECONDS = 0.3\n"

NODE = """
import sys
import virnucpro_backend.cluster.node_task as n
import virnucpro_backend.cluster.child_worker as c
n.POLL_SECONDS = 0.05
n.BEAT_SECONDS = 0.5
made_up = [sys.executable, "-u", "-c", '''
import json, os, sys, time
print(json.dumps({"type": "hello", "protocol": 2, "role": "worker", "pid": os.getpid(),
                  "backend_version": "0", "python_version": "3"}))
for line in sys.stdin:
    command = json.loads(line)
    if command["type"] == "recall": print("warned", file=sys.stderr); sys.exit(7)
    if command["type"] == "limit_batches": print(json.dumps({"type": "log", "level": "info",
        "message": str(command["most_tokens_per_batch"])}))
    if command["type"] == "stop": print(json.dumps({"type": "bye", "reason": "stop"})); sys.exit(0)
''']
real = c.ChildWorker.__init__
c.ChildWorker.__init__ = lambda self, environment: real(self, environment, made_up)
n.main()
"""

SCRIPT = """#!/bin/bash
pool=$1
trap 'told=1; kill -USR1 "$task"' USR1
trap 'told=1; kill -TERM "$task"' TERM
sh "$pool/task" --processors "$pool" &
task=$!
while told=; wait "$task"; status=$?; [ -n "$told" ]; do :; done
echo "status $status"
exit "$status"
"""


class Cluster:
    """A folder that all its nodes share, and SLURM's programs."""

    def __init__(self, folder: Path) -> None:
        self.slurm = folder / "slurm"
        programs = folder / "bin"
        programs.mkdir()
        self.slurm.mkdir()
        for name in ("sbatch", "squeue", "scancel"):
            program = programs / name
            program.write_text(f"#!{sys.executable}\n" + (HERE / "made_up_slurm.py").read_text())
            program.chmod(0o755)
        node = programs / "node-python"
        (folder / "node.py").write_text(NODE)
        # In the place of `python -X utf8 -u -m virnucpro_backend.cluster.node_task`.
        node.write_text(f'#!/bin/sh\nshift 5\nexec {sys.executable} {folder / "node.py"} "$@"\n')
        node.chmod(0o755)
        self.pool = folder / "run β" / "pool"
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TMPDIR": str(self.slurm),
            "PYTHONPATH": str(HERE.parents[1] / "src"),
        }
        self.script = SCRIPT.replace("pool=$1", f'pool=$1\nexport VIRNUCPRO_PYTHON="{node}"')

    def run(self) -> RunningPool:
        return RunningPool(QUICK, self.environment)

    def open(self, pool: RunningPool, tasks: int = 2, script: bool = True, login: str | None = None) -> None:
        choice = {"kind": "slurm", "tasks": tasks, "login": login, "on_processors": True}
        pool.send(
            type="open_pool",
            pool={**choice, "script": self.script if script else None},
            run_folder=str(self.pool.parent),
            pool_folder=str(self.pool),
        )

    def tasks(self, job: str) -> dict[str, dict[str, Any]]:
        facts: dict[str, dict[str, Any]] = json.loads((self.slurm / f"{job}.json").read_text())
        return facts

    def pids(self) -> list[int]:
        return [
            facts["pid"] for path in self.slurm.glob("*.json") for facts in self.tasks(path.stem).values()
        ]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    for pid in filter(None, made.pids()):
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def of(device: str) -> Any:
    return lambda event: event["device"] == device


def line(device: str, kind: str) -> Any:
    return lambda event: event["device"] == device and event["event"]["type"] == kind


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def start(pool: RunningPool, device: str) -> Event:
    pool.wait_for("device_joined", of(device))
    pool.send(type="start_worker", device=device)
    return pool.wait_for("worker_line", line(device, "hello"))


def test_tasks_join_work_fail_are_cancelled_and_are_given_back(cluster: Cluster) -> None:
    with cluster.run() as pool:
        cluster.open(pool)
        ready = pool.wait_for("pool_ready")
        assert ready == {"type": "pool_ready", "version": "Slurm 99.11.1", "job": "100"}
        first, second = "node0/100_0", "node1/100_1"
        start(pool, first)
        start(pool, second)
        pool.wait_for("pool_waiting", lambda event: event["waiting"] == 0)
        # A worker takes commands, and its end is told with its last words; another can be started.
        for tokens in (1, 2, 3):
            pool.send(
                type="worker_command",
                device=first,
                command={"type": "limit_batches", "most_tokens_per_batch": tokens},
            )
        for tokens in (1, 2, 3):
            said = pool.wait_for("worker_line", line(first, "log"))
            assert said["event"]["message"] == str(tokens)
        pool.send(type="worker_command", device=first, command={"type": "recall", "part": "000001"})
        ended = pool.wait_for("worker_exit", of(first))
        assert (ended["exit_code"], ended["signal"], ended["last_lines"]) == (7, None, ["warned"])
        pool.send(type="start_worker", device=first)
        pool.wait_for("worker_line", line(first, "hello"))
        pool.send(type="end_worker", device=first, grace_seconds=30)
        assert pool.wait_for("worker_exit", of(first))["exit_code"] == 0
        pool.send(type="start_worker", device=first)
        pool.wait_for("worker_line", line(first, "hello"))
        pool.send(type="kill_worker", device=first)
        assert pool.wait_for("worker_exit", of(first))["signal"] == "SIGKILL"
        # The time of a task ends: it says so, and asks to be queued again.
        os.kill(cluster.tasks("100")["0"]["pid"], signal.SIGUSR1)
        left = pool.wait_for("device_left", of(first))
        assert left["reason"] == "Its time is about to end. It is queued again."
        # Another disappears without a word.
        os.killpg(cluster.tasks("100")["1"]["pid"], signal.SIGKILL)
        assert pool.wait_for("device_left", of(second))["reason"] == "It failed (FAILED)."
        assert pool.wait_for("worker_exit", of(second))["exit_code"] is None
        failed = pool.wait_for("pool_failed")
        assert failed["message"].startswith(
            "All tasks of SLURM's job 100 have ended: 2 x it failed (FAILED)."
        )
        assert pool.exit_code() == 0
        assert "status 75" in (cluster.slurm / "100_0.log").read_text()


def test_a_pool_that_comes_back_takes_its_tasks_over_and_closes_them(cluster: Cluster) -> None:
    with cluster.run() as pool:
        cluster.open(pool)
        start(pool, "node0/100_0")
    # Killed, without a word; its task waits for the next one.
    with cluster.run() as pool:
        cluster.open(pool)
        assert pool.wait_for("pool_ready")["job"] == "100"
        start(pool, "node0/100_0")
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in cluster.pids()))
    assert not (cluster.pool / "tasks").exists()


def test_a_torn_line_costs_its_task_alone(cluster: Cluster) -> None:
    with cluster.run() as pool:
        cluster.open(pool)
        start(pool, "node0/100_0")
        start(pool, "node1/100_1")
        with next((cluster.pool / "tasks" / "100_0.0").glob("1/events-*")).open("ab") as events:
            events.write(b'{"type": "bea\n')
        pool.wait_for("device_left", of("node0/100_0"))
        pool.send(type="end_worker", device="node1/100_1", grace_seconds=30)
        assert pool.wait_for("worker_exit", of("node1/100_1"))["exit_code"] == 0
        wait_until(lambda: cluster.tasks("100")["0"]["state"] == "CANCELLED")
        assert cluster.tasks("100")["1"]["state"] == "RUNNING"


def test_the_tasks_outlive_a_fault_of_the_pool_itself(cluster: Cluster) -> None:
    fault = (
        "def fail(pool):\n    if pool.events.devices: raise RuntimeError('a fault')\n"
        "s.SlurmPool._look_after_silent = fail\n"
    )
    with RunningPool(QUICK + fault, cluster.environment) as pool:
        cluster.open(pool, tasks=1)
        pool.wait_for("device_joined")
        assert pool.wait_for("pool_failed")["code"] == "internal_error"
        assert pool.exit_code() == 0
    assert cluster.tasks("100")["0"]["state"] == "RUNNING"
    with cluster.run() as pool:
        cluster.open(pool, tasks=1)
        assert pool.wait_for("pool_ready")["job"] == "100"
        start(pool, "node0/100_0")


def test_a_script_that_a_person_submits_is_waited_for(cluster: Cluster) -> None:
    with cluster.run() as pool:
        cluster.open(pool, tasks=1, script=False)
        assert pool.wait_for("pool_ready")["job"] is None
        reason = pool.wait_for("pool_waiting")["reason"]
        assert reason == f"waiting for the script to be submitted: sbatch SCRIPT '{cluster.pool}'"
        script = cluster.slurm / "mine.sh"
        script.write_text(cluster.script)
        command = ["sbatch", "--array=0-0", str(script), str(cluster.pool)]
        environment = {**os.environ, **cluster.environment}
        subprocess.run(["env", *command], env=environment, check=True, stdout=subprocess.DEVNULL)
        start(pool, "node0/100_0")
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    assert cluster.tasks("100")["0"]["state"] == "CANCELLED"


def test_a_login_node_is_asked_by_ssh_which_leaves_a_connection_open(
    cluster: Cluster, tmp_path: Path
) -> None:
    # As OpenSSH before 8.5: what it leaves open for the next call holds its standard error.
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(
        '#!/bin/bash\necho "$@" >>"$TMPDIR/ssh.log"\nsleep 150 & echo $! >>"$TMPDIR/open"\neval "${@: -1}"\n'
    )
    ssh.chmod(0o755)
    with cluster.run() as pool:
        cluster.open(pool, tasks=1, login="anna@login")
        assert pool.wait_for("pool_ready")["job"] == "100"
        start(pool, "node0/100_0")
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    assert "BatchMode=yes" in (cluster.slurm / "ssh.log").read_text()
    for pid in (cluster.slurm / "open").read_text().split():
        with contextlib.suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


def test_why_tasks_wait_and_are_refused_is_said_in_words(cluster: Cluster) -> None:
    (cluster.slurm / "hold").write_text("QOSMaxJobsPerUserLimit")
    with cluster.run() as pool:
        cluster.open(pool)
        waiting = pool.wait_for("pool_waiting", lambda event: "QOS" in event["reason"])
        assert waiting["waiting"] == 2
        assert waiting["reason"] == "a limit of the QOS has been reached (QOSMaxJobsPerUserLimit)"
        (cluster.slurm / "down").touch()  # squeue fails for a while.
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    assert {facts["state"] for facts in cluster.tasks("100").values()} == {"CANCELLED"}
    (cluster.slurm / "down").unlink()
    (cluster.slurm / "hold").write_text("PartitionConfig")
    with cluster.run() as pool:
        cluster.open(pool)
        failed = pool.wait_for("pool_failed")
        assert failed["code"] == "refused_by_scheduler"
        assert "(PartitionConfig)" in failed["message"]
        assert pool.exit_code() == 0
    assert {facts["state"] for facts in cluster.tasks("200").values()} == {"CANCELLED"}
    (cluster.slurm / "refuse").write_text(
        "sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
    )
    with cluster.run() as pool:
        cluster.open(pool)
        failed = pool.wait_for("pool_failed")
        assert failed["code"] == "refused_by_scheduler"
        assert "may not use this partition" in failed["message"]
        assert "Choose another account" in failed["next_step"]
        assert pool.exit_code() == 0


def test_no_slurm_and_no_shared_folder_are_said(cluster: Cluster) -> None:
    with RunningPool(QUICK, {"PATH": "/nowhere"}) as pool:
        cluster.open(pool)
        assert pool.wait_for("pool_failed")["code"] == "unreachable"
        assert pool.exit_code() == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("invalid partition specified: gpux", "no such partition"),
        ("Invalid generic resource (gres) specification", "no node has such GPUs"),
        ("Requested node configuration is not available", "no node has as many"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "time asked for"),
        ("Job violates accounting/QOS policy (job submit limit, ...)", "limit on jobs"),
        ("Something new", "It says: Batch job submission failed: Something new"),
    ],
)
def test_a_refusal_says_why_and_what_to_do(said: str, words: str) -> None:
    error = refusal(f"sbatch: error: Batch job submission failed: {said}\n")
    assert words in error.message
    assert said in error.message
    assert error.next_step


def test_a_reason_that_is_not_known_stands_as_it_is() -> None:
    assert describe_waiting("Priority") == "other jobs come first (Priority)"
    assert describe_waiting("SomethingNew") == "SomethingNew"
