"""What a Ray cluster answers, in words for the user. The answers are Ray's own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from running_pool import RunningPool

from virnucpro_backend.cluster.events import PoolFailedError
from virnucpro_backend.cluster.ray.connection import connect, failure_to_connect, is_protected, release


def test_a_cluster_without_a_token_is_used_on_this_computer_only() -> None:
    assert is_protected({"nodes": ["127.0.0.1", "127.0.0.1", "::1"]}, "127.0.0.1:6379", []) is False
    # Ray listens on all of a computer's addresses, also where its nodes are called 127.0.0.1.
    for nodes, outer in ((["127.0.0.1", "10.1.2.3"], []), (["127.0.0.1"], ["10.1.2.3"])):
        with pytest.raises(PoolFailedError) as failed:
            is_protected({"nodes": nodes}, "10.1.2.3:6379", outer)
        assert failed.value.code == "not_allowed"
        assert "10.1.2.3" in failed.value.message
        assert "RAY_AUTH_MODE=token" in failed.value.next_step


@pytest.mark.parametrize(
    ("kind", "message", "code"),
    [
        ("AuthenticationError", "Token authentication is enabled but the token is missing", "not_allowed"),
        ("", "Failed to get cluster ID: RPC error: InvalidAuthToken: missing or incorrect", "not_allowed"),
        ("RuntimeError", "Version mismatch: The cluster was started with: Ray: 2.1", "version_differs"),
        ("RuntimeError", "No node info found matching attributes: ...", "refused_by_scheduler"),
        ("ConnectionError", "Could not find any running Ray instance", "unreachable"),
        ("", "a crash", "unreachable"),
    ],
)
def test_answers_in_words(kind: str, message: str, code: str) -> None:
    failure = failure_to_connect("node1:6379", kind, message)
    assert (failure.code, "node1:6379" in failure.message) == (code, True)
    assert failure.next_step


@pytest.mark.parametrize("address", ["node1", "ray://node1:10001", "auto", "node1:x", "-h:1"])
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(PoolFailedError) as failed:
        connect(address, lambda words: None)
    assert failed.value.code == "unreachable"
    assert "6379" in failed.value.next_step


def test_versions() -> None:
    assert release("2.52.0") == (2, 52) < release("2.60.1") < release("3.0.0rc1")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_the_pool_says_how_to_get_it(tmp_path: Path) -> None:
    with RunningPool() as pool:
        pool.send(
            type="open_pool",
            pool={
                "kind": "ray",
                "address": "127.0.0.1:6379",
                "shared_storage": True,
                "cpu_workers_per_node": 1,
            },
            run_folder=str(tmp_path),
            pool_folder=str(tmp_path / "pool"),
        )
        failed = pool.wait_for("pool_failed")
        assert (failed["code"], "--with-ray" in failed["next_step"]) == ("package_missing", True)
        assert pool.exit_code() == 0
