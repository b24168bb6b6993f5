"""Connect to a Ray cluster as one of its drivers, with its token, or explain why that fails."""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

FIRST_WITH_TOKENS = (2, 52)
"""In earlier releases of Ray, anybody who reaches a cluster can run programs on it."""

REACH_SECONDS = 10.0
ANSWER_SECONDS = 45.0
HOW_TO_GET_THE_TOKEN = (
    'Copy the token from the head node, where "ray get-auth-token" shows it, into ~/.ray/auth_token on this '
    "computer, readable by you alone; or name a file that has it with RAY_AUTH_TOKEN_PATH."
)
TOKEN_VARIABLES = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")

REFUSED = "InvalidAuthToken"
"""Ray prints this repeatedly, until it gives up, while the cluster refuses its token."""

ASK = """
import json, sys
import ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
    print(json.dumps({"nodes": [n["NodeManagerAddress"] for n in ray.nodes() if n["Alive"]]}))
except Exception as error:
    print(json.dumps({"error": type(error).__name__, "message": str(error)}))
"""
"""A script that asks a cluster for its nodes and prints their addresses, or an error."""


class ClusterRefusedError(Exception):
    """The cluster cannot be used; `next_step` says what to do about it."""

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message)
        self.next_step = next_step


class TokenRefusedError(ClusterRefusedError):
    """The cluster wants a token, and not this one."""


@dataclass(frozen=True)
class Connection:
    """A driver's connection. `ray`: the imported package. `version`: the same here and on the cluster.
    `job`: the cluster's name for this driver."""

    ray: Any
    version: str
    job: str


def connect(address: str, warn: Callable[[str], None]) -> Connection:
    """Connect to the cluster whose head node is at `address`, `host:port`. Takes seconds.

    The token comes from where Ray itself looks for it. Raises ClusterRefusedError if the cluster can't be
    reached, asks for no token although other computers can reach it, or has another version of Ray or Python.
    """
    if not re.fullmatch(r"(?!-)[\w.:\[\]-]+:\d+", address):
        raise ClusterRefusedError(
            f"{address} is not the address of a Ray cluster.",
            "Enter its head node as host:port; the port is ordinarily 6379.",
        )
    version = _installed()
    host, port = _host_and_port(address)
    try:
        socket.create_connection((host, port), REACH_SECONDS).close()
    except OSError as error:
        raise failure_to_connect(address, "", f"{error.strerror or error}.") from error
    if is_protected(_answer(address, "disabled"), address, _outer_addresses(port)):
        if not _has_token():
            raise ClusterRefusedError(
                f"The Ray cluster at {address} asks for a token, and there is none on this computer.",
                HOW_TO_GET_THE_TOKEN,
            )
        os.environ["RAY_AUTH_MODE"] = "token"
    else:
        os.environ["RAY_AUTH_MODE"] = "disabled"
        warn(
            f"The Ray cluster at {address} asks for no token. It can be reached from this computer only, so "
            "it is used; but every account of this computer can run programs on it in the name of yours. "
            "Start it with RAY_AUTH_MODE=token."
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_module("ray")
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            configure_logging=False,
        )
    except Exception as error:
        kind, message = type(error).__name__, str(error)
        if isinstance(error, ConnectionError):
            # Ray gives the reason only in its log.
            message += str(_answer(address, os.environ["RAY_AUTH_MODE"]))
        raise failure_to_connect(address, kind, message) from error
    return Connection(ray, f"Ray {version}", ray.get_runtime_context().get_job_id())


def is_protected(answer: dict[str, Any], address: str, outer: Sequence[str]) -> bool:
    """Whether the cluster refuses clients without a token, judged by its `answer` to one. `outer`: this
    computer's non-loopback addresses at which the cluster's port answers.

    Raises ClusterRefusedError if it accepts them and other computers can reach it, or if it gave no answer.
    """
    if "nodes" in answer:
        open_to = [*outer, *(node for node in answer["nodes"] if not _is_loopback(node))]
        if not open_to:
            return False
        raise ClusterRefusedError(
            f"The Ray cluster at {address} asks for no token: whoever reaches {open_to[0]} over the network "
            "can run programs there in your name. It is not used.",
            'Stop it ("ray stop"), run "ray get-auth-token --generate", copy that token to all nodes, and '
            "start Ray again with RAY_AUTH_MODE=token.",
        )
    failure = failure_to_connect(address, str(answer.get("error")), str(answer.get("message")))
    if isinstance(failure, TokenRefusedError):
        return True
    raise failure


def failure_to_connect(address: str, kind: str, message: str) -> ClusterRefusedError:
    """Translate Ray's exception, given as class name and text, into an error for the user."""
    text = f"{kind} {message}"
    first = " ".join(message.split())[:300]
    if "AuthenticationError" in text or REFUSED in text:
        return TokenRefusedError(
            f"The Ray cluster at {address} doesn't accept the token on this computer.",
            HOW_TO_GET_THE_TOKEN,
        )
    if "ersion mismatch" in text:
        return ClusterRefusedError(
            f"The Ray cluster at {address} has another version of Ray or Python than this program. {first}",
            "Start the cluster from this program's Python environment, or from one with the same versions of "
            "Python and Ray; or choose an interpreter with the cluster's versions, under Settings or with "
            "--python.",
        )
    if "No node info found" in text or "atched Raylet" in text:
        return ClusterRefusedError(
            f"This computer is not a node of the Ray cluster at {address}, and only from its nodes can work "
            "be started.",
            f'Join it without lending it anything: "RAY_AUTH_MODE=token ray start --address={address} '
            '--num-cpus=0 --num-gpus=0". Or run the program on a node of the cluster.',
        )
    return ClusterRefusedError(
        f"No Ray cluster answers at {address}: {first}",
        'Check the address: "ray status" on the head node shows whether it runs, and its port is the one '
        'that "ray start --head --port=..." was given, ordinarily 6379.',
    )


def _installed() -> str:
    """Return Ray's version without importing Ray, which would read its environment variables too early."""
    if importlib.util.find_spec("ray") is None:
        raise ClusterRefusedError(
            "Ray is not installed in the program's Python environment.",
            'Run "virnucpro setup --with-ray", or install Ray in the environment that you have chosen.',
        )
    version = metadata.version("ray")
    if release(version) < FIRST_WITH_TOKENS:
        raise ClusterRefusedError(
            f"Ray {version} can't protect a cluster with a token; that began with Ray 2.52.",
            "Install a newer Ray on all nodes and in the program's Python environment.",
        )
    return version


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version, such as (2, 52)."""
    numbers = []
    for part in version.split(".")[:2]:
        digits = "".join(character for character in part if character.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)


def _answer(address: str, mode: str) -> dict[str, Any]:
    """Ask the cluster for its nodes without a token (`disabled`) or with this computer's (`token`)."""
    env = {**os.environ, "RAY_AUTH_MODE": mode, "RAY_USAGE_STATS_ENABLED": "0"}
    # Use a separate process, as Ray reads these variables only once and retries for a long time.
    with subprocess.Popen(
        [sys.executable, "-c", ASK, address],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as asked:
        timer = threading.Timer(ANSWER_SECONDS, asked.kill)
        timer.start()
        try:
            return _first_answer(asked.stdout or [])
        finally:
            timer.cancel()
            asked.kill()


def _first_answer(lines: Iterable[str]) -> dict[str, Any]:
    last = ""
    for line in lines:
        if REFUSED in line:
            return {"error": "AuthenticationError", "message": line}
        last = line.strip() or last
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {"error": "", "message": last or f"no answer within {ANSWER_SECONDS:.0f} seconds"}


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _outer_addresses(port: int) -> list[str]:
    """This computer's non-loopback addresses at which something listens on the port."""
    found = []
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            if address.family != socket.AF_INET or _is_loopback(address.address):
                continue
            try:
                socket.create_connection((address.address, port), 1.0).close()
            except OSError:
                continue
            found.append(str(address.address))
    return found


def _has_token() -> bool:
    if any(os.environ.get(name) for name in TOKEN_VARIABLES):
        return True
    return (Path.home() / ".ray" / "auth_token").is_file()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"
