"""Tests the worker's process from outside, with the demo model on a CPU."""

from __future__ import annotations

import hashlib
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from made_parts import PartFile, random_frames, write_part_file
from running_worker import RunningWorker

QUICK_BEATS = "import virnucpro_backend.inference.status as s; s.HEARTBEAT_SECONDS = 0.1\n"
SLOW_BATCHES = """
import time, virnucpro_backend.inference.encoding as e
fits = e.BatchLoop._run
def slow(*arguments):
    time.sleep(0.02)
    return fits(*arguments)
e.BatchLoop._run = slow
"""


@pytest.fixture
def files(tmp_path: Path) -> list[PartFile]:
    return [
        write_part_file(tmp_path / "parts" / f"{i:06}.safetensors", random_frames(60, seed=i))
        for i in range(3)
    ]


def sha256_of(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_parts_are_scored(files: list[PartFile], tmp_path: Path) -> None:
    with RunningWorker(QUICK_BEATS) as worker:
        worker.load(embeddings="fp16")
        for i, file in enumerate(files):
            path = str(tmp_path / "embeddings" / f"{i:06}.safetensors")
            worker.part(f"{i:06}", file, tmp_path, embeddings_path=path)
        ready = worker.wait_for("ready")
        done = [worker.wait_for("part_done") for _ in files]
        worker.send(type="stop")
        assert worker.exit_code() == 0
    assert b"batch of" not in worker.log
    assert worker.seen[0]["type"] == "hello"
    assert worker.seen[0]["pid"] == worker.process.pid
    assert worker.seen[-1] == {"type": "bye", "reason": "stop"}
    assert ready["precision"] == "fp32"
    assert ready["device_uuid"] is None
    assert [event["part"] for event in done] == ["000000", "000001", "000002"]
    for event, file in zip(done, files, strict=True):
        assert (event["frames"], event["residues"]) == (60, len(file.frames.residues))
        assert event["scores_sha256"] == sha256_of(event["scores_path"])
        scores = safetensors.numpy.load_file(event["scores_path"])
        assert {name: (a.dtype.str, a.shape) for name, a in scores.items()} == {
            "score1": ("<f4", (60,)),
            "score2": ("<f4", (60,)),
            "state": ("|u1", (60,)),
        }
        np.testing.assert_allclose(scores["score1"] + scores["score2"], 1, atol=1e-6)
        embeddings = tmp_path / "embeddings" / Path(event["scores_path"]).name
        assert event["embeddings_sha256"] == sha256_of(embeddings)
        arrays = safetensors.numpy.load_file(embeddings)
        assert {name: (a.dtype.str, a.shape) for name, a in arrays.items()} == {
            "dnabert_s": ("<f2", (60, 64)),
            "esm2": ("<f2", (60, 64)),
        }
    progress = [event for event in worker.seen if event["type"] == "progress"]
    assert {event["part"] for event in progress if event["frames_done"] == 60} == {
        "000000",
        "000001",
        "000002",
    }
    beats = [event for event in worker.seen if event["type"] == "heartbeat"]
    assert beats[0]["step"] == "starting"
    assert len({event["steps_done"] for event in beats}) > 1
    assert not list(tmp_path.rglob("*.tmp"))


def test_streamed_layers_and_smaller_batches_are_reported(files: list[PartFile], tmp_path: Path) -> None:
    for placement, found in (("auto", "resident"), ("streamed", "streamed")):
        with RunningWorker() as worker:
            worker.load(placement=placement, most_tokens_per_batch=512)
            ready = worker.wait_for("ready")
            assert (ready["tokens_per_batch"], ready["placement"]) == (512, found)
            assert (ready["memory_profile"], ready["memory_free_bytes"]) == (None, None)
            if placement == "streamed":
                assert "stay in main memory" in worker.wait_for("log")["message"]
            worker.part("000000", files[0], tmp_path)
            worker.wait_for("part_done")


def test_a_range_of_frames_is_scored(
    files: list[PartFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRNUCPRO_LOG_LEVEL", "debug")
    with RunningWorker() as worker:
        worker.load()
        worker.part("000001", files[1], tmp_path)
        worker.part("000001.1", files[1], tmp_path, frame_begin=30)
        whole, part = (
            safetensors.numpy.load_file(worker.wait_for("part_done")["scores_path"]) for _ in range(2)
        )
        worker.send(type="stop")
        assert worker.exit_code() == 0
    np.testing.assert_allclose(part["score2"], whole["score2"][30:], atol=2e-6)
    for encoder in (b"esm2", b"dnabert_s"):
        assert len(re.findall(encoder + rb": batch of \d+ sequences, \d+ tokens", worker.log)) >= 2


def test_a_closed_input_ends_the_worker_during_a_computation(files: list[PartFile], tmp_path: Path) -> None:
    """The computation is inside PyTorch, where no Python code runs for seconds."""
    busy = """
import torch, virnucpro_backend.inference.encoding as e
def endless(self, *arguments):
    matrix = torch.ones(3000, 3000)
    while True:
        matrix = matrix @ matrix
e.BatchLoop._run = endless
"""
    with RunningWorker(QUICK_BEATS + busy) as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path)
        worker.wait_for("heartbeat", lambda event: event["step"] == "computing")
        worker.stdin.close()
        assert worker.exit_code() == 0
    assert worker.seen[-1] == {"type": "bye", "reason": "stdin_closed"}


def test_recall_only_gives_back_parts_that_have_not_started(files: list[PartFile], tmp_path: Path) -> None:
    with RunningWorker() as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path / "undisturbed")
        undisturbed = worker.wait_for("part_done")["scores_sha256"]
    with RunningWorker(QUICK_BEATS + SLOW_BATCHES) as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path)
        worker.part("000001", files[1], tmp_path)
        worker.wait_for("heartbeat", lambda event: event["step"] == "computing")
        worker.send(type="recall", part="000000")
        worker.send(type="recall", part="000001")
        failed = worker.wait_for("part_failed")
        assert (failed["part"], failed["code"]) == ("000001", "recalled")
        done = worker.wait_for("part_done")
        assert (done["part"], done["scores_sha256"]) == ("000000", undisturbed)
        worker.part("000002", files[2], tmp_path)
        assert worker.wait_for("part_done")["part"] == "000002"
        worker.send(type="stop")
        assert worker.exit_code() == 0
    assert [event["part"] for event in worker.seen if event["type"] == "part_failed"] == ["000001"]
    assert not (tmp_path / "scores" / "000001.safetensors").exists()


@pytest.mark.parametrize("how", ["command", "signal"])
def test_stop_drops_unfinished_work(files: list[PartFile], tmp_path: Path, how: str) -> None:
    if how == "signal" and sys.platform == "win32":
        pytest.skip("Windows has no SIGTERM to catch")
    with RunningWorker(QUICK_BEATS + SLOW_BATCHES) as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path)
        worker.part("000001", files[1], tmp_path)
        worker.wait_for("heartbeat", lambda event: event["step"] == "computing")
        if how == "signal":
            worker.process.send_signal(signal.SIGTERM)
        else:
            worker.send(type="stop")
        assert worker.exit_code() == 0
    assert worker.seen[-1] == {"type": "bye", "reason": "stop"}
    assert not [event for event in worker.seen if event["type"] in ("part_done", "part_failed")]
    assert not list(tmp_path.rglob("scores/*"))


@pytest.mark.parametrize(
    ("line", "problem"), [("\x00\x01garbage", "not JSON"), ('{"type": "dance"}', "type is 'dance'")]
)
def test_a_malformed_command_is_reported_and_ends_the_worker(line: str, problem: str) -> None:
    with RunningWorker() as worker:
        worker.send_line(line)
        assert worker.exit_code() == 2
    last = worker.seen[-1]
    assert (last["type"], last["level"]) == ("log", "error")
    assert problem in last["message"]
    assert problem.encode() in worker.log


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"model_folder": "/nowhere"}, "model_missing"),
        ({"device": "mps"}, "pytorch_unfit"),
        ({"precision": "fp8"}, "precision_unsupported"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_reported(
    files: list[PartFile], tmp_path: Path, changes: dict[str, str], code: str
) -> None:
    with RunningWorker() as worker:
        worker.load(**changes)
        worker.part("000000", files[0], tmp_path)
        failed = worker.wait_for("load_failed")
        assert failed["code"] == code
        assert worker.wait_for("part_failed")["part"] == "000000"
        worker.part("000001", files[1], tmp_path)
        assert worker.wait_for("part_failed")["part"] == "000001"
        worker.send(type="stop")
        assert worker.exit_code() == 0


def test_a_damaged_model_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text("{}")
    with RunningWorker() as worker:
        worker.load(model_folder=str(tmp_path))
        failed = worker.wait_for("load_failed")
        assert (failed["code"], failed["values"]) == ("model_damaged", {"path": str(file)})


def test_a_bad_part_does_not_stop_its_neighbours(files: list[PartFile], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder is wanted")
    with RunningWorker() as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path, part_sha256="0" * 64)
        worker.part("000001", files[1], tmp_path / "file")
        worker.part("000002", files[2], tmp_path)
        assert worker.wait_for("part_failed", lambda e: e["part"] == "000000")["code"] == "part_unreadable"
        assert worker.wait_for("part_failed", lambda e: e["part"] == "000001")["code"] == "folder_unwritable"
        assert worker.wait_for("part_done")["part"] == "000002"


def test_running_out_of_memory_is_reported(files: list[PartFile], tmp_path: Path) -> None:
    small_device = """
import torch
from virnucpro_backend.encoders.esm2 import Esm2
embed_all = Esm2.embed_all
def limited(self, batches, step_done):
    if max(layout.n_tokens for _, layout in batches) > 600:
        raise torch.OutOfMemoryError('CUDA out of memory.')
    return embed_all(self, batches, step_done)
Esm2.embed_all = limited
"""
    file = write_part_file(tmp_path / "same.safetensors", random_frames(60, seed=9, shortest=50, longest=50))
    with RunningWorker(small_device) as worker:
        worker.load()
        worker.part("000000", file, tmp_path)
        event = worker.wait_for("oom")
        assert event["part"] == "000000"
        assert event["tokens_per_batch_after"] < event["tokens_per_batch_before"] == 2048
        assert worker.wait_for("part_done")["batch_halvings"] > 0
        worker.part("000001", file, tmp_path)
        assert worker.wait_for("part_done")["batch_halvings"] > 0
    assert len([event for event in worker.seen if event["type"] == "oom"]) == 2


def test_a_lost_device_ends_the_worker(files: list[PartFile], tmp_path: Path) -> None:
    lost = """
import virnucpro_backend.inference.encoding as e
def gone(*arguments):
    raise RuntimeError('CUDA error: an illegal memory access was encountered')
e.BatchLoop._run = gone
"""
    with RunningWorker(lost) as worker:
        worker.load()
        worker.part("000000", files[0], tmp_path)
        assert worker.wait_for("part_failed")["code"] == "device_lost"
        assert worker.exit_code() == 3
    assert b"illegal memory access" in worker.log
