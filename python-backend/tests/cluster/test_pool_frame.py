"""A pool's commands as the contract has them, and the frame of its process with a made-up scheduler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from running_pool import SCHEMAS, RunningPool

from virnucpro_backend.cluster.commands import parse_pool_command
from virnucpro_backend.cluster.events import LAST_LINES, ClusterDeviceKind, PoolFailureCode, WorkerEventType
from virnucpro_backend.typed_commands import CommandError

Json = dict[str, Any]


def schema(name: str) -> Json:
    content: Json = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def variants(name: str) -> dict[str, Json]:
    return {variant["properties"]["type"]["const"]: variant for variant in schema(name)["oneOf"]}


RAY = {"kind": "ray", "address": "head:6379", "shared_storage": True, "cpu_workers_per_node": 0}
SLURM = {"kind": "slurm", "script": "#!/bin/sh\n", "tasks": 4, "login": None, "on_processors": True}
OPEN = {"type": "open_pool", "pool": SLURM, "run_folder": "/run", "pool_folder": "/run/work/pool β"}
DEVICE = "node-7/GPU-1"
SAMPLES: list[Json] = [
    OPEN,
    {**OPEN, "pool": {**SLURM, "script": None, "login": "me@cluster"}},
    {**OPEN, "pool": RAY},
    {**OPEN, "pool": {**RAY, "shared_storage": False, "cpu_workers_per_node": 2}},
    {"type": "start_worker", "device": DEVICE},
    {"type": "worker_command", "device": DEVICE, "command": {"type": "recall", "part": "000012"}},
    {"type": "end_worker", "device": DEVICE, "grace_seconds": 10.5},
    {"type": "kill_worker", "device": DEVICE},
    {"type": "close_pool"},
]


def test_a_command_of_the_contract_is_understood() -> None:
    assert {sample["type"] for sample in SAMPLES} == set(variants("pool-command"))
    for sample in SAMPLES:
        jsonschema.validate(sample, schema("pool-command"))
        command = parse_pool_command(json.loads(json.dumps(sample)))
        assert msgspec.to_builtins(command, enc_hook=str) == sample


def spoilt() -> Iterator[Json]:
    """Every sample with a field left out or of another kind."""
    for sample in SAMPLES:
        yield {**sample, "colour": "red"}
        for name in sample:
            yield {key: value for key, value in sample.items() if key != name}
            yield from ({**sample, name: value} for value in (["unexpected"], -3, True, ""))
    for pool in (RAY, SLURM):
        for name in pool:
            yield {**OPEN, "pool": {key: value for key, value in pool.items() if key != name}}
            yield from ({**OPEN, "pool": {**pool, name: value}} for value in (["unexpected"], -3))


def test_what_the_contract_forbids_is_refused() -> None:
    validator = jsonschema.Draft202012Validator(schema("pool-command"))
    # A path is not empty, though the contract says only that it is text.
    cases = [case for case in spoilt() if not validator.is_valid(case)]
    assert len(cases) > 80
    for case in cases:
        with pytest.raises(CommandError):
            parse_pool_command(case)


def test_closed_lists_are_those_of_the_contract() -> None:
    events = variants("pool-event")
    assert set(events["pool_failed"]["properties"]["code"]["enum"]) == set(get_args(PoolFailureCode))
    assert set(events["device_joined"]["properties"]["kind"]["enum"]) == set(get_args(ClusterDeviceKind))
    assert set(variants("worker-event")) == set(get_args(WorkerEventType))


MADE_UP = """
import threading, time
import virnucpro_backend.cluster.pool as frame
from virnucpro_backend.cluster.events import *

class MadeUp(frame.Pool):
    def open(self, run_folder, pool_folder):
        self.events.ready("Made up 1.0", "job 7")
        self.events.waiting(2, "Priority"); self.events.waiting(2, "Priority")
        for number in (1, 2):
            self.events.joined(ClusterDevice(f"d{number}", "node", "made up", "cpu", 5))
    def start_worker(self, device): self.events.worker_line(device, b'{"type":"bye","reason":"stop"}')
    def command_worker(self, device, command):
        what = command["type"]
        if what == "stop": self.events.worker_exit(device, 0, None, [f"line {n}" for n in range(99)])
        elif what == "recall": self.events.left(device, "Its node went down.")
        elif what == "limit_batches":
            for line in (b'{"type":"sing"}', b'[]', b'{"type":"log","x":NaN}', b' ' * 2_000_000):
                if not self.events.worker_line(device, line): self.kill_worker(device)
        else: threading.Thread(target=self.break_down).start()
    def break_down(self): 1 / 0
    def end_worker(self, device, grace_seconds): self.events.worker_exit(device, None, "SIGTERM", [])
    def kill_worker(self, device): self.events.worker_exit(device, None, "SIGKILL", [])
    def close(self):
        time.sleep(self.closing_takes)
        self.events.log("info", "given back")
    closing_takes = 0
    def abandon(self): open(self.abandoned, "w").close()

frame._pool_for = lambda choice, events, end: MadeUp(events, end)
"""


def of(pool: RunningPool, *kinds: str) -> list[Json]:
    return [event for event in pool.seen if event["type"] in kinds]


def test_each_start_of_a_worker_is_followed_by_one_exit_and_close_gives_all_back() -> None:
    with RunningPool(MADE_UP) as pool:
        pool.send(**OPEN)
        for device in ("d1", "d2", "d1", "gone"):  # d1 twice: it has a worker already.
            pool.send(type="start_worker", device=device)
        pool.send(type="worker_command", device="d1", command={"type": "stop"})
        pool.send(type="kill_worker", device="d1")  # It has ended.
        pool.send(type="start_worker", device="d1")
        pool.send(type="worker_command", device="d2", command={"type": "recall", "part": "000001"})
        pool.send(type="worker_command", device="d2", command={"type": "stop"})  # It has left.
        pool.send(
            type="worker_command",
            device="d1",
            command={"type": "limit_batches", "most_tokens_per_batch": 1},
        )
        pool.send(type="start_worker", device="d1")
        pool.send(type="close_pool")
        assert pool.exit_code() == 0
    assert [event["type"] for event in pool.seen[:2]] == ["hello", "pool_ready"]
    assert pool.seen[0]["role"] == "pool"
    assert len(of(pool, "pool_waiting")) == 1
    said = [
        (event["device"], event["type"]) for event in of(pool, "worker_line", "worker_exit", "device_left")
    ]
    assert [kind for device, kind in said if device == "d1"] == [
        *("worker_line", "worker_exit"),
        *("worker_line", "worker_exit"),  # Killed for what it wrote.
        *("worker_line", "worker_exit", "device_left"),  # Closed.
    ]
    assert [kind for device, kind in said if device == "d2"] == ["worker_line", "worker_exit", "device_left"]
    assert [kind for device, kind in said if device == "gone"] == ["worker_exit"]
    exits = of(pool, "worker_exit")
    assert len(next(one for one in exits if one["exit_code"] == 0)["last_lines"]) == LAST_LINES
    assert [event["message"] for event in of(pool, "log")][-1] == "given back"
    assert pool.seen[-1] == {"type": "bye", "reason": "stop"}


IN_WORDS = """
def break_down(self): raise PoolFailedError("unreachable", "The cluster is gone.", "Wait.")
MadeUp.break_down, MadeUp.closing_takes = break_down, 0.5
"""


@pytest.mark.parametrize(
    ("how", "code", "says", "gives_back"),
    [("", "internal_error", "ZeroDivisionError", False), (IN_WORDS, "unreachable", "is gone", True)],
)
def test_a_thread_that_fails_ends_the_pool_and_only_a_fault_of_the_program_keeps_what_was_lent(
    tmp_path: Path, how: str, code: str, says: str, gives_back: bool
) -> None:
    mark = tmp_path / "abandoned"
    with RunningPool(MADE_UP + how + f"MadeUp.abandoned = {str(mark)!r}\n") as pool:
        pool.send(**OPEN)
        pool.send(type="start_worker", device="d1")
        command = {"type": "part", "part": "000001", "part_path": "a", "part_sha256": "0" * 64}
        numbers = {"frame_begin": 0, "frame_end": 1, "scores_path": "b", "embeddings_path": None}
        pool.send(type="worker_command", device="d1", command={**command, **numbers})
        pool.wait_for("pool_failed")
        pool.close_input()  # As the engine does; the pool ends in its own way all the same.
        assert pool.exit_code() == 0
    (failed,) = of(pool, "pool_failed")
    assert failed["code"] == code
    assert says in failed["message"]
    assert mark.exists() is not gives_back
    assert ("given back" in [event["message"] for event in of(pool, "log")]) is gives_back
    assert {event["device"] for event in of(pool, "device_left")} == {"d1", "d2"}


def test_a_pool_whose_engine_is_gone_ends_after_a_last_word(tmp_path: Path) -> None:
    mark = tmp_path / "abandoned"
    with RunningPool(MADE_UP + f"MadeUp.abandoned = {str(mark)!r}\n") as pool:
        pool.send(**OPEN)
        pool.wait_for("device_joined")
        pool.close_input()
        assert pool.exit_code() == 0
        assert mark.exists()


@pytest.mark.parametrize(
    "line", ["nonsense", '{"type":"sing"}', '{"type":"kill_worker","device":"d1"}', json.dumps(OPEN) * 2]
)
def test_a_command_out_of_order_or_unreadable_ends_the_process(line: str) -> None:
    with RunningPool(MADE_UP) as pool:
        pool.send_line(line)
        assert pool.exit_code() == 2
        assert "broke the protocol" in of(pool, "log")[0]["message"]
