"""What SLURM answers, explained: why a task waits, how one ended, and why a job was refused."""

from __future__ import annotations

from virnucpro_backend.cluster.events import PoolFailedError

_WAITING = {
    "Priority": "other jobs come first",
    "Resources": "waiting for a free node",
    "BeginTime": "it may not start yet",
    "Dependency": "waiting for another job",
    "Licenses": "waiting for a licence",
    "Reservation": "waiting for its reservation",
    "Cleaning": "still being cleared up after it was queued again",
    "JobArrayTaskLimit": "as many tasks run at once as the array allows",
    "JobHeldAdmin": "held by an administrator",
    "JobHeldUser": "held by its user",
    "JobLaunchFailure": "it could not be launched on its node",
    "PartitionConfig": "the partition has no nodes as it asks for",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is not active",
    "PartitionNodeLimit": "it asks for more than the partition allows",
    "PartitionTimeLimit": "it asks for more time than the partition allows",
    "NodeDown": "a node that it needs is down",
    "BadConstraints": "no node is as it asks",
    "InvalidAccount": "its account is not valid",
    "InvalidQOS": "its QOS is not valid",
    "TimeLimit": "its time had ended",
}
_WAITING_BY_START = {
    "ReqNodeNotAvail": "the nodes that it needs are down, drained or reserved",
    "Nodes_required_for_job_are_DOWN": "the nodes that it needs are down, drained or reserved",
    "QOS": "a limit of the QOS has been reached",
    "MaxGRES": "a limit on GPUs has been reached",
    "Assoc": "a limit of the account has been reached",
    "MaxJobs": "as many jobs run at once as are allowed",
    "MaxCpu": "a limit on processors has been reached",
    "MaxMem": "a limit on memory has been reached",
    "launch_failed": "it could not be launched on its node",
}

HELD = ("JobHeldAdmin", "JobHeldUser", "launch_failed", "JobLaunchFailure")
"""Reasons for which a task doesn't start before somebody does something."""

NEVER = ("PartitionConfig", "PartitionTimeLimit", "BadConstraints", "InvalidAccount", "InvalidQOS")
"""Reasons for which a task can't start as it was submitted, however long it waits."""

_ENDED = {
    "BOOT_FAIL": "its node did not start",
    "CANCELLED": "it was cancelled",
    "COMPLETED": "it has ended",
    "COMPLETING": "it is ending",
    "DEADLINE": "its deadline had passed",
    "FAILED": "it failed",
    "NODE_FAIL": "its node failed",
    "OUT_OF_MEMORY": "it used more memory than it was given",
    "PENDING": "it is queued again",
    "PREEMPTED": "another job took its place",
    "REQUEUED": "it is queued again",
    "REVOKED": "another cluster took it",
    "TIMEOUT": "its time had ended",
}

_REFUSED = (
    (
        ("invalid account", "account/partition", "user's group not permitted"),
        "this account may not use this partition",
        "Choose another account or partition; `sacctmgr show assoc user=$USER` lists yours.",
    ),
    (
        ("invalid partition", "invalid partition name", "no partition specified"),
        "there is no such partition",
        "Choose one that `sinfo` lists.",
    ),
    (
        ("invalid qos", "qos permission"),
        "this QOS may not be used",
        "Choose another QOS, or none.",
    ),
    (
        ("generic resource", "gres"),
        "no node has such GPUs",
        "Compare the GPUs asked for with those that `sinfo -o '%P %G'` lists.",
    ),
    (
        (
            "node configuration is not available",
            "more processors requested",
            "cpu count",
            "memory specification",
        ),
        "no node has as many processors, as much memory and as many GPUs",
        "Ask for less per task, or for another partition.",
    ),
    (
        ("time limit",),
        "the time asked for is not allowed",
        "Ask for less time; work goes on in another task when it ends.",
    ),
    (
        ("array",),
        "the array is not allowed as it is",
        "Ask for fewer tasks: `scontrol show config` names the largest array as MaxArraySize.",
    ),
    (
        ("limit", "policy"),
        "a limit on jobs has been reached",
        "Wait until earlier jobs have ended, or ask for fewer tasks.",
    ),
)


def describe_waiting(reason: str) -> str:
    """Why a task waits, with SLURM's own word, such as `other jobs come first (Priority)`."""
    if reason in ("", "None"):
        return "SLURM has not looked at it yet"
    start = reason.partition("(")[0].partition(",")[0].strip()
    plain = _WAITING.get(start) or next(
        (words for begin, words in _WAITING_BY_START.items() if start.startswith(begin)), None
    )
    return f"{plain} ({reason})" if plain else reason


def describe_end(state: str) -> str:
    """How a task ended, with SLURM's own word, such as `its node failed (NODE_FAIL)`."""
    plain = _ENDED.get(state)
    return f"{plain} ({state})" if plain else state


def refusal(answer: str) -> PoolFailedError:
    """Why sbatch doesn't take a job, from what it wrote on standard error."""
    lines = [line.strip() for line in answer.splitlines() if "error" in line.lower()] or [answer.strip()]
    said = lines[-1].removeprefix("sbatch: ").removeprefix("error: ")[:300]
    low = answer.lower()
    for parts, why, step in _REFUSED:
        if any(part in low for part in parts):
            return PoolFailedError(
                "refused_by_scheduler", f"SLURM doesn't take the job: {why}. It says: {said}", step
            )
    return PoolFailedError(
        "refused_by_scheduler",
        f"SLURM doesn't take the job. It says: {said}",
        "Change the job's settings as SLURM's words suggest, or ask who runs the cluster.",
    )
