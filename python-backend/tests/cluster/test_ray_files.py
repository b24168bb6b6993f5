"""What goes to the nodes of a Ray cluster and back, without Ray: files, weights, and the host of a worker."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from made_parts import DEMO_MODEL

from virnucpro_backend.cluster.ray.files import ArrivingFile, DamagedFileError, Scratch
from virnucpro_backend.cluster.ray.models import ModelCache, local_names, read_model, with_files
from virnucpro_backend.cluster.ray.node import WorkerHost, gpu_problem, worker_environment
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.model_json import read_model_json

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters have Linux nodes")

PATIENCE = 60.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelCache:
    monkeypatch.setenv("VIRNUCPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIRNUCPRO_DATA_DIR", str(tmp_path / "data"))
    return ModelCache()


def send(cache: ModelCache, piece_bytes: int = 50_000) -> str:
    model = read_model(DEMO_MODEL)
    assert cache.begin(model.hash, model.size) == "filling"
    files = local_names(model.files)
    for role, file in model.files.items():
        content = (DEMO_MODEL / file.path).read_bytes()
        for offset in range(0, len(content), piece_bytes):
            for _ in range(2):  # A piece whose answer was lost comes again.
                cache.write(model.hash, files[role].path, offset, content[offset : offset + piece_bytes])
    return cache.finish(model.hash, with_files(model.description, files))


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "scores" / "000001.safetensors"
    for sha256 in (hashlib.sha256(b"other").hexdigest(), hashlib.sha256(b"one two").hexdigest()):
        arriving = ArrivingFile(path)
        arriving.add(b"one ")
        arriving.add(b"two")
        assert not path.exists()
        if sha256 == hashlib.sha256(b"one two").hexdigest():
            arriving.finish(sha256)
        else:
            with pytest.raises(DamagedFileError):
                arriving.finish(sha256)
        arriving.discard()
    assert path.read_bytes() == b"one two"
    assert os.listdir(path.parent) == [path.name]


def test_scratch_folders_are_removed_also_those_of_killed_processes(tmp_path: Path) -> None:
    mine = Scratch(tmp_path)
    mine.write("parts/a", 0, b"abc")
    mine.write("parts/a", 2, b"cde")
    assert mine.read("parts/a", 1) == b"bcde"
    with pytest.raises(ValueError, match="leads out"):
        mine.write("../a", 0, b"")
    left = tmp_path / "left"
    (left / "parts").mkdir(parents=True)
    (tmp_path / "left.lock").touch()
    another = Scratch(tmp_path)
    assert [mine.folder.is_dir(), another.folder.is_dir(), left.exists()] == [True, True, False]
    mine.empty()
    assert list(mine.folder.iterdir()) == []
    mine.remove()
    another.remove()
    assert list(tmp_path.iterdir()) == []


def test_weights_arrive_once(cache: ModelCache) -> None:
    wanted = read_model(DEMO_MODEL).hash
    assert cache.find(wanted, ["/nowhere"]) is None
    folder = send(cache)
    assert cache.find(wanted, ["/nowhere"]) == folder
    assert cache.find(wanted, [str(DEMO_MODEL)]) == str(DEMO_MODEL)
    assert read_model_json(Path(folder)).model_hash == wanted
    # Another run, and another process, finds them too.
    assert ModelCache().find(wanted, []) == folder
    assert ModelCache().begin(wanted, 1) == "ready"


def test_weights_that_the_program_has_there_are_found_by_their_hash(
    cache: ModelCache, tmp_path: Path
) -> None:
    shutil.copytree(DEMO_MODEL, tmp_path / "data" / "weights" / "mine")
    found = cache.find(read_model(DEMO_MODEL).hash, ["/nowhere"])
    assert found == str(tmp_path / "data" / "weights" / "mine")


def test_only_one_process_sends_weights_and_another_takes_over(cache: ModelCache) -> None:
    model = read_model(DEMO_MODEL)
    assert cache.begin(model.hash, model.size) == "filling"
    other = ModelCache()
    assert other.begin(model.hash, model.size) == "busy"
    cache.abandon(model.hash)
    assert send(other)
    assert cache.begin(model.hash, model.size) == "ready"


def test_damaged_weights_are_sent_again(cache: ModelCache) -> None:
    model = read_model(DEMO_MODEL)
    folder = Path(send(cache))
    head = folder / read_model(folder).files["head"].path
    content = bytearray(head.read_bytes())
    content[len(content) // 2] ^= 1
    head.write_bytes(content)
    assert cache.find(model.hash, []) is None
    assert cache.begin(model.hash, model.size) == "filling"
    for role, file in local_names(model.files).items():
        sent = (DEMO_MODEL / model.files[role].path).read_bytes()
        cache.write(model.hash, file.path, 0, b"other bytes" if role == "head" else sent)
    with pytest.raises(WeightsError):
        cache.finish(model.hash, with_files(model.description, local_names(model.files)))
    assert send(cache) == str(folder)


def test_a_full_disk_is_said_before_anything_is_sent(cache: ModelCache) -> None:
    answer = cache.begin("0" * 64, 1 << 60)
    assert "VIRNUCPRO_CACHE" in answer
    assert cache.begin("0" * 64, 1 << 60) == answer


def heard(host: WorkerHost, have: int, until: str) -> tuple[int, list[Any]]:
    """All that is said after the first `have`, up to a line of this type, or the end."""
    items: list[Any] = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        first, said = host.said(have, 1.0)
        assert first == have
        items += said
        have += len(said)
        for item in said:
            if item[0] == until or (item[0] == "line" and json.loads(item[1])["type"] == until):
                return have, items
    raise AssertionError(f"no {until}: {items}")


def test_a_worker_on_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    host = WorkerHost("cpu")
    assert host.device()["kind"] == "cpu"
    for _ in range(2):  # The answer to the first was lost.
        host.obey(1, ("start",))
    have, items = heard(host, 0, "hello")
    hello = next(json.loads(item[1]) for item in items if item[0] == "line")
    environment = Path(f"/proc/{hello['pid']}/environ").read_bytes()
    assert b"secret" not in environment
    assert b"OMP_NUM_THREADS=1" in environment
    host.obey(2, ("line", b'{"type":"dance"}'))
    have, items = heard(host, have, "exit")
    assert items[-1][1][:2] == (2, None)
    assert any("dance" in line for line in items[-1][1][2])
    host.obey(3, ("start",))
    have, items = heard(host, have, "hello")
    assert [item for item in items if item[0] == "exit"] == []
    host.kill()
    have, items = heard(host, have, "exit")
    assert items[-1][1][:2] == (None, signal.Signals.SIGKILL.name)
    host.close()
    assert not list(tmp_path.rglob("*.lock"))


def test_what_has_not_been_acknowledged_is_said_again() -> None:
    host = WorkerHost("cpu")
    for word in ("one", "two", "three"):
        host._say(("log", word))
    assert host.said(0, 0) == (0, [("log", "one"), ("log", "two"), ("log", "three")])
    assert host.said(0, 0) == (0, [("log", "one"), ("log", "two"), ("log", "three")])
    assert host.said(2, 0) == (2, [("log", "three")])
    assert host.said(3, 0.01) == (3, [])
    host.close()


def test_a_gpu_that_ray_lends_must_be_the_one_that_is_there() -> None:
    gpu = {"name": "GPU X", "blocked_by": None}
    assert gpu_problem([gpu], None) is None
    none = gpu_problem([], "No driver.") or ""
    assert ("shows 0" in none, "No driver." in none) == (True, True)
    assert "shows 2" in (gpu_problem([gpu, gpu], None) or "")
    assert "PyTorch" in (gpu_problem([{**gpu, "blocked_by": "pytorch"}], None) or "")
    assert "account" in (gpu_problem([{**gpu, "blocked_by": "permission"}], None) or "")


def test_a_worker_gets_nothing_of_rays() -> None:
    made = worker_environment(
        {"RAY_AUTH_TOKEN": "x", "OMP_NUM_THREADS": "1", "HOME": "/h", "PYTHONPATH": "/p"}
    )
    assert not [name for name in made if name.startswith("RAY_") or name == "OMP_NUM_THREADS"]
    assert made["HOME"] == "/h"
    assert made["PYTHONPATH"].endswith(f"src{os.pathsep}/p")
