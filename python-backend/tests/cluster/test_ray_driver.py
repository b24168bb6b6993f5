"""The driver of a Ray cluster tells the engine what becomes of the tasks."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from virnucpro_backend.cluster.__main__ import compute


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

    def wait(self, tasks: list[str]) -> tuple[list[str], list[str]]:
        return tasks[:1], tasks[1:]

    def get(self, task: str) -> tuple[str, str]:
        if task == "2/4":
            raise RuntimeError("the node died")
        return "node1", "it ended"


@pytest.mark.parametrize(("cpus", "asked"), [(0, {"num_cpus": 1, "num_gpus": 1}), (2, {"num_cpus": 2})])
def test_each_end_of_a_task_is_told_once_with_its_reason(
    cpus: int, asked: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    ray = RayOfOneNode()
    compute(ray, [1, 2, 4], "/run", "4", cpus, ["virnucpro"])
    assert ray.resources == {"max_retries": 3, **asked}
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        [1, "node1", "it ended"],
        [2, None, "RuntimeError: the node died"],
        [4, "node1", "it ended"],
    ]
