"""The driver of a Ray cluster tells the engine what becomes of the tasks, and why there is no cluster."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from virnucpro_backend.cluster.__main__ import Shares


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_it_says_so() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "virnucpro_backend.cluster", "node1:6379", "/run", "2", "1", "virnucpro"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout is not None
        hello, refused = (json.loads(driver.stdout.readline()) for _ in range(2))
        assert driver.wait(60) == 0
    assert (hello["type"], hello["role"], refused["type"]) == ("hello", "ray", "refused")
    assert refused["reason"] == "ModuleNotFoundError: No module named 'ray'"


class RayOfOneNode:
    """Ray's answers, as far as shares ask. The second task has lost its node too often."""

    class exceptions:  # noqa: N801 -- Ray's own name
        RayError = RuntimeError

    def __init__(self) -> None:
        self.resources: dict[str, object] = {}

    def remote(self, _function: object) -> RayOfOneNode:
        return self

    def options(self, **resources: object) -> SimpleNamespace:
        self.resources = resources
        return SimpleNamespace(remote=lambda _program, _run, share, _cpus: share)

    def wait(self, tasks: list[str], **_: object) -> tuple[list[str], list[str]]:
        return [task for task in tasks if task != "4/4"], []

    def get(self, task: str) -> tuple[int, str, str]:
        if task == "2/4":
            raise RuntimeError("the node died")
        return int(task[0]) - 1, "node1", "the last line"


@pytest.mark.parametrize(("cpus", "asked"), [(0, {"num_cpus": 1, "num_gpus": 1}), (2, {"num_cpus": 2})])
def test_each_end_of_a_task_is_reported_once_with_its_reason(cpus: int, asked: dict[str, int]) -> None:
    ray = RayOfOneNode()
    events: list[dict[str, Any]] = []
    channel = SimpleNamespace(emit=lambda kind, **fields: events.append({"type": kind, **fields}))
    shares = Shares(channel, ray, "/run", ["virnucpro"], 4, cpus)  # type: ignore[arg-type]
    shares.submit([1, 2, 3, 4])
    assert ray.resources == {"max_retries": 3, **asked}
    shares.report_ends()
    shares.report_ends()
    assert [(event["share"], event["node"], event["reason"]) for event in events] == [
        (1, "node1", "it ended"),
        (2, None, "RuntimeError: the node died"),
        (3, "node1", "its program ended with exit code 2: the last line"),
    ]
