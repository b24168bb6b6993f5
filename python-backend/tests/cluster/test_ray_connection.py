"""What a Ray cluster answers, in words for the user. The answers are Ray's own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from virnucpro_backend.cluster.connection import (
    ClusterRefusedError,
    TokenRefusedError,
    connect,
    failure_to_connect,
    is_protected,
    release,
)


def test_a_cluster_without_a_token_is_used_on_this_computer_only() -> None:
    assert is_protected({"nodes": ["127.0.0.1", "127.0.0.1", "::1"]}, "127.0.0.1:6379", []) is False
    # Ray listens on all of a computer's addresses, also where its nodes are called 127.0.0.1.
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
def test_answers_in_words(kind: str, message: str, says: str) -> None:
    failure = failure_to_connect("node1:6379", kind, message)
    assert says in str(failure)
    assert "node1:6379" in str(failure)
    assert isinstance(failure, TokenRefusedError) == (says == "token")
    assert failure.next_step


@pytest.mark.parametrize("address", ["node1", "ray://node1:10001", "auto", "node1:x", "-h:1"])
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ClusterRefusedError) as failed:
        connect(address, lambda words: None)
    assert "6379" in failed.value.next_step


def test_versions() -> None:
    assert release("2.52.0") == (2, 52) < release("2.60.1") < release("3.0.0rc1")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_it_says_how_to_get_it() -> None:
    connect_command = {
        "type": "connect",
        "address": "127.0.0.1:6379",
        "run": "/run",
        "program": "virnucpro",
        "shares": 2,
        "cpus": 1,
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
