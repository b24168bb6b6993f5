"""A Ray cluster's answers are explained to the user. The answers are copied from Ray."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from contextlib import nullcontext
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest

from virnucpro_backend.cluster.__main__ import Shares
from virnucpro_backend.cluster.connection import (
    CONNECTED,
    ClusterRefusedError,
    check_installed,
    explained,
    refuse_unprotected,
)

ADDRESS = "node1:6379"


def test_a_cluster_is_only_used_if_it_refuses_a_client_without_a_token() -> None:
    refused = "E1126 gcs_rpc_client.h: Failed to get cluster ID: RPC error: InvalidAuthToken: missing"
    refuse_unprotected(ADDRESS, refused)
    with pytest.raises(ClusterRefusedError, match="no token") as failed:
        refuse_unprotected(ADDRESS, f"INFO worker.py: Connecting\n{CONNECTED}\n")
    assert "RAY_AUTH_MODE=token" in failed.value.next_step
    with pytest.raises(ClusterRefusedError, match="does not answer"):
        refuse_unprotected(ADDRESS, "")


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("AuthenticationError: Token authentication is enabled but the token is missing", "asks for a token"),
        ("Failed to get cluster ID: RPC error: InvalidAuthToken: missing or incorrect", "asks for a token"),
        (
            "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.1",
            "mismatch.* Ray: 2.1",
        ),
        ("RuntimeError: No node info found matching attributes: ...", "only from its nodes"),
        ("ConnectionError: Could not find any running Ray instance", "does not answer. Could not find"),
        ("a crash", "does not answer"),
    ],
)
def test_errors_of_ray_are_explained(output: str, says: str) -> None:
    failure = explained(ADDRESS, f"Traceback\n{output}\n")
    assert re.search(says, str(failure))
    assert ADDRESS in str(failure)
    assert failure.next_step


@pytest.mark.parametrize(
    ("version", "is_refused"), [("2.51.9", True), ("2.60.1", False), ("3.0.0rc1", False)]
)
def test_a_ray_without_tokens_is_refused(
    version: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda _name: version)
    with pytest.raises(ClusterRefusedError, match=version) if is_refused else nullcontext():
        check_installed()


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_it_explains_how_to_install_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "virnucpro_backend.cluster", ADDRESS, "/run", "virnucpro", "2", "1", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout is not None
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
    events: list[dict[str, Any]] = []
    channel = SimpleNamespace(emit=lambda kind, **fields: events.append({"type": kind, **fields}))
    return Shares(channel, ray, "/run", "virnucpro", 4, cpus, most), events  # type: ignore[arg-type]


def test_no_more_tasks_are_submitted_at_once_than_the_user_allows() -> None:
    ray = RayOfTwoNodes()
    shares, events = shares_on(ray, cpus=1, most=2)
    shares.submit([1, 2, 3, 4])
    assert ray.tasks == ["1/4", "2/4"]
    shares.explain_wait()
    assert events == [{"type": "waits", "reason": "limit"}]
    ray.ended = {"2/4"}
    shares.report_ends()
    assert ray.tasks == ["1/4", "2/4", "3/4"]


@pytest.mark.parametrize(("cpus", "reason"), [(2, "busy"), (4, "no_processors"), (0, "no_gpu")])
def test_a_task_that_no_single_node_can_hold_is_explained(cpus: int, reason: str) -> None:
    shares, events = shares_on(RayOfTwoNodes(), cpus, most=0)
    shares.submit([1])
    shares.explain_wait()
    assert events[-1]["reason"] == reason
