"""A Ray cluster's answers are explained to the user. The answers are copied from Ray."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from virnucpro_backend.cluster.__main__ import Shares
from virnucpro_backend.cluster.connection import (
    ClusterRefusedError,
    TokenRefusedError,
    connect,
    failure_to_connect,
    is_protected,
    release,
)


def test_a_cluster_without_a_token_is_only_used_if_it_is_local() -> None:
    assert is_protected({"nodes": ["127.0.0.1", "127.0.0.1", "::1"]}, "127.0.0.1:6379", []) is False
    # Ray listens on all of a computer's addresses, even if its nodes are called 127.0.0.1.
    for nodes, outer in ((["127.0.0.1", "10.1.2.3"], []), (["127.0.0.1"], ["10.1.2.3"])):
        with pytest.raises(ClusterRefusedError) as failed:
            is_protected({"nodes": nodes}, "10.1.2.3:6379", outer)
        assert "10.1.2.3" in str(failed.value)
        assert "RAY_AUTH_MODE=token" in failed.value.next_step


@pytest.mark.parametrize(
    ("kind", "message", "says"),
    [
        ("AuthenticationError", "Token authentication is enabled but the token is missing", "token"),
        ("", "Failed to get cluster ID: RPC error: InvalidAuthToken: missing or incorrect", "token"),
        ("RuntimeError", "Version mismatch: The cluster was started with: Ray: 2.1", "another version"),
        ("RuntimeError", "No node info found matching attributes: ...", "not a node"),
        ("ConnectionError", "Could not find any running Ray instance", "No Ray cluster answers"),
        ("", "a crash", "No Ray cluster answers"),
    ],
)
def test_errors_of_ray_are_explained(kind: str, message: str, says: str) -> None:
    failure = failure_to_connect("node1:6379", kind, message)
    assert says in str(failure)
    assert "node1:6379" in str(failure)
    assert isinstance(failure, TokenRefusedError) == (says == "token")
    assert failure.next_step


@pytest.mark.parametrize("address", ["node1", "ray://node1:10001", "auto", "node1:x", "-h:1"])
def test_an_address_needs_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ClusterRefusedError) as failed:
        connect(address, lambda words: None)
    assert "6379" in failed.value.next_step


def test_versions_are_parsed() -> None:
    assert release("2.52.0") == (2, 52) < release("2.60.1") < release("3.0.0rc1")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_it_explains_how_to_install_it() -> None:
    connect_command = {
        "type": "connect",
        "address": "127.0.0.1:6379",
        "run": "/run",
        "program": "virnucpro",
        "shares": 2,
        "cpus": 1,
        "workers": 0,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "virnucpro_backend.cluster"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        driver.stdin.write(json.dumps(connect_command) + "\n")
        driver.stdin.flush()
        hello, refused = (json.loads(driver.stdout.readline()) for _ in range(2))
        assert driver.wait(60) == 0
    assert (hello["type"], hello["role"], refused["type"]) == ("hello", "ray", "refused")
    assert "--with-ray" in refused["next_step"]


class RayOfTwoNodes:
    """Ray's answers, as far as shares ask: tasks end when the test says so."""

    class exceptions:  # noqa: N801 -- Ray's own name
        RayError = RuntimeError

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.ended: set[str] = set()

    def remote(self, _function: object) -> RayOfTwoNodes:
        return self

    def options(self, **_resources: object) -> SimpleNamespace:
        def remote(_program: str, _run: str, share: str, _cpus: int) -> str:
            self.tasks.append(share)
            return share

        return SimpleNamespace(remote=remote)

    def wait(self, tasks: list[str], **_: object) -> tuple[list[str], list[str]]:
        return [task for task in tasks if task in self.ended], []

    def get(self, _task: str) -> tuple[int, str, str]:
        return 0, "node1", ""

    def nodes(self) -> list[dict[str, Any]]:
        node = {"Alive": True, "Resources": {"CPU": 2.0}}
        return [node, node, {"Alive": False, "Resources": {"CPU": 64.0}}]


def shares_on(ray: RayOfTwoNodes, cpus: int, most: int) -> tuple[Shares, list[dict[str, Any]]]:
    said: list[dict[str, Any]] = []
    channel = SimpleNamespace(emit=lambda kind, **fields: said.append({"type": kind, **fields}))
    connection = SimpleNamespace(ray=ray)
    return Shares(channel, connection, "/run", "virnucpro", 4, cpus, most), said  # type: ignore[arg-type]


def test_no_more_tasks_are_submitted_at_once_than_the_user_allows() -> None:
    ray = RayOfTwoNodes()
    shares, said = shares_on(ray, cpus=1, most=2)
    shares.submit([1, 2, 3, 4])
    assert ray.tasks == ["1/4", "2/4"]
    shares.explain_wait()
    assert {line["share"] for line in said if "at most 2" in line["reason"]} == {3, 4}
    ray.ended = {"2/4"}
    shares.report_ends()
    assert ray.tasks == ["1/4", "2/4", "3/4"]


@pytest.mark.parametrize(
    ("cpus", "reason"), [(2, "busy"), (4, "no node of the Ray cluster has 4 processors")]
)
def test_a_task_that_no_single_node_can_hold_is_said(cpus: int, reason: str) -> None:
    shares, said = shares_on(RayOfTwoNodes(), cpus, most=0)
    shares.submit([1])
    shares.explain_wait()
    assert reason in said[-1]["reason"]
