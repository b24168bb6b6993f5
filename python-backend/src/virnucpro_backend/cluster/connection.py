"""Connect to a Ray cluster as one of its drivers, with its token, or explain why that fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from importlib import import_module, metadata
from typing import Any

FIRST_WITH_TOKENS = (2, 52)
"""In earlier releases of Ray, anybody who reaches a cluster can run programs on it."""

ANSWER_SECONDS = 600.0
"""For a head node that accepts a connection and then hangs."""

REFUSED = "InvalidAuthToken"
UNREACHED = "Timed out while waiting for GCS"
"""Ray prints these for minutes, while a cluster refuses its token, or no head node is there. How long Ray
itself takes to start, such as from a busy network disk, says nothing about the cluster."""

CONNECTED = "virnucpro: connected"
CONNECT = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
print(sys.argv[2])
"""

REASONS = (
    (
        f"AuthenticationError|{REFUSED}",
        "asks for a token, and this computer has none, or another one",
        'Copy the token from the head node, where "ray get-auth-token" shows it, into ~/.ray/auth_token on '
        "this computer, readable by you alone; or name a file that has it with RAY_AUTH_TOKEN_PATH.",
    ),
    (
        "ersion mismatch",
        "has another version of Ray or Python than this program",
        "Use the same versions in the cluster and in the Python environment of this program, which Settings "
        "or --python can name.",
    ),
    (
        "No node info found|atched Raylet",
        "does not have this computer as a node, and only from its nodes can work be started",
        'Join it without offering any resources: "RAY_AUTH_MODE=token ray start --address=HEAD:6379 '
        '--num-cpus=0 --num-gpus=0". Or run the program on a node of the cluster.',
    ),
    (
        "",
        "does not answer",
        'Check the address: "ray status" on the head node shows whether it runs; the port is usually 6379.',
    ),
)
"""What Ray's output means: a pattern, words for people, and what to do about it. The first match counts."""


class ClusterRefusedError(Exception):
    """The cluster cannot be used; `next_step` says what to do about it."""

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message)
        self.next_step = next_step


def connect(address: str) -> Any:
    """Connect to the cluster whose head node is at `address`, `host:port`; return the package `ray`.

    This takes seconds. The token comes from where Ray itself looks for it. Raises ClusterRefusedError if the
    cluster can't be reached, asks for no token, or has another version of Ray or Python.
    """
    check_installed()
    refuse_unprotected(address, _output_of_connecting(address, "disabled"))
    output = _output_of_connecting(address, "token")
    if CONNECTED not in output:
        raise explained(address, output)
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_module("ray")
    ray.init(address=address, log_to_driver=False, configure_logging=False)
    return ray


def check_installed() -> None:
    """Raise ClusterRefusedError where Ray is missing or knows no tokens.

    Ray itself is not imported: it would read its environment variables too early.
    """
    try:
        version = metadata.version("ray")
    except metadata.PackageNotFoundError:
        version = "0"
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < FIRST_WITH_TOKENS:
        found = "no Ray" if version == "0" else f"Ray {version}"
        raise ClusterRefusedError(
            f"The program's Python environment has {found}; a token can protect a cluster since Ray 2.52.",
            'Run "virnucpro setup --with-ray", or install Ray in the environment that you have chosen.',
        )


def refuse_unprotected(address: str, output: str) -> None:
    """Raise ClusterRefusedError unless the cluster refused a client without a token, by its `output`."""
    if CONNECTED in output:
        raise ClusterRefusedError(
            f"The Ray cluster at {address} asks for no token: whoever reaches it can run programs there in "
            "your name. It is not used.",
            'Stop it ("ray stop"), run "ray get-auth-token --generate", copy that token to all nodes, and '
            "start Ray again with RAY_AUTH_MODE=token.",
        )
    if not re.search(REASONS[0][0], output):
        raise explained(address, output)


def explained(address: str, output: str) -> ClusterRefusedError:
    """Translate Ray's output, which ends in an exception, into an error for the user."""
    last = " ".join(output.rpartition("Error: ")[2].split())[:300]
    _, meaning, next_step = next(reason for reason in REASONS if re.search(reason[0], output))
    return ClusterRefusedError(f"The Ray cluster at {address} {meaning}. {last}".strip(), next_step)


def _output_of_connecting(address: str, mode: str) -> str:
    """Connect without a token (`disabled`) or with this computer's (`token`), and return its output."""
    env = {**os.environ, "RAY_AUTH_MODE": mode, "RAY_USAGE_STATS_ENABLED": "0"}
    # Use a separate process, as Ray reads these variables only once and retries for a long time.
    with subprocess.Popen(
        [sys.executable, "-c", CONNECT, address, CONNECTED],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as client:
        timer = threading.Timer(ANSWER_SECONDS, client.kill)
        timer.start()
        output = ""
        for line in client.stdout or []:
            output += line
            if REFUSED in line or UNREACHED in line:
                break
        timer.cancel()
        client.kill()
    return output
