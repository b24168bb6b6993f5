"""Tests `python -m virnucpro_backend.weights` from end to end, with a server on this computer."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from loopback import Site, serving
from published_files import DNABERT_S, ESM2, RESOURCES, write_published

from virnucpro_backend.weights import __main__ as weights_main
from virnucpro_backend.weights.__main__ import main
from virnucpro_backend.weights.install import changing
from virnucpro_backend.weights.manifest import read_manifest
from virnucpro_backend.weights.model_folder import load_model

MANIFEST = RESOURCES / "models.json"


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    code = main([str(argument) for argument in arguments])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


class Store:
    """A folder of weights, and a site that has their files: small ones, in the shipped manifest's layout."""

    def __init__(self, folder: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
        self.site, self.capsys = site, capsys
        self.weights, self.manifest = folder / "weights", folder / "models.json"
        self.files = write_published(folder / "published")
        self.manifest.write_text(MANIFEST.read_text())
        for key, entry in self.described.items():
            role = entry["role"]
            self.publish(role, self.files[role].read_bytes())
            self.describe(key, url=f"{site.url}/{role}", git_blob=None, **fingerprint(site.files[f"/{role}"]))

    @property
    def described(self) -> dict[str, dict[str, Any]]:
        return json.loads(self.manifest.read_text())["files"]

    def describe(self, key: str, **changes: object) -> None:
        """Change what the manifest says about a file."""
        content = json.loads(self.manifest.read_text())
        content["files"][key] |= changes
        self.manifest.write_text(json.dumps(content))

    def publish(self, role: str, content: bytes) -> None:
        self.site.files[f"/{role}"] = content

    def getting(self, model: str) -> list[str]:
        return ["get", model, "--weights", str(self.weights), "--manifest", str(self.manifest)]

    def get(self, model: str, *more: str) -> tuple[int, list[dict[str, Any]]]:
        """Get a model, and forget the requests before."""
        self.site.requests.clear()
        return command(self.capsys, *self.getting(model), *more)

    def verify(self) -> tuple[int, dict[str, Any]]:
        code, lines = command(self.capsys, "verify", self.weights / "500")
        return code, lines[-1]


def fingerprint(content: bytes) -> dict[str, object]:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@pytest.fixture
def store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Store]:
    with serving() as site:
        yield Store(tmp_path, site, capsys)


def test_a_model_can_be_downloaded_and_verified(store: Store) -> None:
    code, lines = store.get("500")
    assert (code, lines[-1]) == (0, {"type": "done", "folders": [str(store.weights / "500")]})
    steps = [line["step"] for line in lines if line["type"] == "progress"]
    assert "Downloading esm2_t36_3B_UR50D.pt" in steps
    assert "Converting ESM-2" in steps
    model = load_model(store.weights / "500", "cpu", "fp32")
    assert (model.esm2.config, model.dnabert_s.config) == (ESM2, DNABERT_S)
    assert model.chunk_length == 500
    assert model.norm_bands is not None
    assert model.norm_bands["esm2"].high == 16
    assert not (store.weights / "downloads").exists()

    assert store.verify()[1]["model_hash"] == model.model_hash
    encoder = next((store.weights / "shared").glob("esm2-*.safetensors"))
    damaged = bytearray(encoder.read_bytes())
    damaged[-1] ^= 1
    encoder.write_bytes(damaged)
    code, line = store.verify()
    assert (code, line["code"]) == (1, "model_damaged")

    assert store.get("500")[0] == 0
    asked = (store.site.asked("/esm2"), store.site.asked("/dnabert_s"))
    assert asked == (1, 0), "only what is damaged is fetched again"
    assert store.verify()[0] == 0


def test_encoders_are_downloaded_once_for_both_heads(store: Store) -> None:
    assert store.get("500")[0] == 0
    code, lines = store.get("300")
    assert code == 0
    assert {path for path, _ in store.site.requests} == {"/head", "/tokenizer"}
    small = sum(store.files[role].stat().st_size for role in ("head", "tokenizer"))
    assert {line["total"] for line in lines if line.get("step", "").startswith("Downloading")} == {small}
    assert len(list((store.weights / "shared").glob("*.safetensors"))) == 2, "both share their encoders"


def test_a_failure_keeps_completed_files(store: Store) -> None:
    esm2 = store.site.files.pop("/esm2")
    code, lines = store.get("500")
    assert (code, lines[-1]["code"]) == (1, "download_failed")
    store.publish("esm2", esm2)
    assert store.get("500")[0] == 0
    assert store.site.asked("/dnabert_s") == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM] if os.name == "posix" else [signal.SIGTERM])
def test_a_killed_download_is_resumed(store: Store, how: signal.Signals) -> None:
    part = store.weights / "downloads" / "esm2" / "esm2_t36_3B_UR50D.pt.part"
    store.site.seconds_per_block = 0.02
    command_line = [sys.executable, "-m", "virnucpro_backend.weights", *store.getting("500")]
    process = subprocess.Popen(command_line, stdout=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            if part.exists() and part.stat().st_size >= 3 * 8192:
                break
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(how)
        assert process.wait(60) != 0
    finally:
        process.kill()
    kept = part.stat().st_size
    assert kept >= 3 * 8192

    store.site.seconds_per_block = 0
    code, lines = store.get("500")
    assert code == 0
    assert ("/esm2", f"bytes={kept}-") in store.site.requests
    assert (store.site.asked("/esm2"), store.site.asked("/dnabert_s")) == (1, 0)
    done = next(line["done"] for line in lines if line.get("step") == "Downloading esm2_t36_3B_UR50D.pt")
    assert done >= kept, "the bar begins where it was"
    assert load_model(store.weights / "500", "cpu", "fp32").esm2.config == ESM2


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EACCES, "folder_unwritable")]
)
def test_an_error_of_the_disk_is_reported(
    number: int, code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "esm2.pt.part")

    monkeypatch.setattr(weights_main, "get_model", fail)
    ending, lines = command(capsys, "get", "500", "--weights", "w", "--manifest", MANIFEST)
    assert (ending, lines[-1]["code"]) == (1, code)
    assert lines[-1]["message"].startswith("esm2.pt.part")


def test_a_disk_that_is_too_small_is_reported_before_downloading(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.describe("esm2_3b", size=5_678_116_398)
    usage = shutil.disk_usage(store.manifest.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=4_200_000_000))
    code, lines = store.get("500")
    assert (code, lines[-1]["code"]) == (1, "disk_full")
    assert "11.4 GB" in lines[-1]["message"]
    assert "4.0 GB are free" in lines[-1]["message"]
    assert "Free 7.4 GB" in lines[-1]["next_step"]
    assert store.site.requests == []


def test_offline_mode_is_reported_before_downloading(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.describe("dnabert_s", url="https://huggingface.co/x/pytorch_model.bin")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, lines = store.get("500")
    assert (code, lines[-1]["code"]) == (1, "network_blocked")
    assert store.site.requests == []


def test_files_can_be_downloaded_from_a_mirror(store: Store) -> None:
    for entry in store.described.values():
        store.publish(f"mirror/{entry['name']}", store.site.files[f"/{entry['role']}"])
    assert store.get("300", "--mirror", f"{store.site.url}/mirror")[0] == 0
    assert all(path.startswith("/mirror/") for path, _ in store.site.requests)


def test_a_head_that_is_not_the_published_one_is_refused(store: Store) -> None:
    store.describe("head_300", sha256=None, git_blob="0" * 40)
    code, lines = store.get("300")
    assert (code, lines[-1]["code"]) == (1, "model_damaged")
    assert "git blob" in lines[-1]["message"]


@pytest.mark.parametrize("role", ["head", "tokenizer", "dnabert_s_config"])
def test_a_wrong_small_file_is_refused_before_the_large_one_is_downloaded(role: str, store: Store) -> None:
    if role == "head":  # another kind of module, with the right hash
        torch.save({"weight": torch.ones(2)}, store.files["head"])
        content = store.files["head"].read_bytes()
        store.describe("head_500", **fingerprint(content))
    else:
        content = store.files[role].read_bytes().replace(b"[MASK]", b"[KSAM]") + b" "
    store.publish(role, content)
    assert store.get("500")[0] == 1
    assert store.site.asked("/esm2") == 0


def test_only_one_process_at_a_time_changes_weights(store: Store) -> None:
    with changing(store.weights):
        code, lines = store.get("500")
    assert (code, lines[-1]["code"]) == (1, "weights_busy")


def test_errors_are_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = command(capsys, "get", "900", "--weights", tmp_path, "--manifest", MANIFEST)
    assert code == 1
    assert lines[0]["type"] == "error"
    assert "300, 500" in lines[0]["next_step"]
    code, lines = command(capsys, "verify", tmp_path)
    assert (code, lines[0]["code"]) == (1, "model_unknown")


def test_the_shipped_manifest_is_complete() -> None:
    for name, model in read_manifest(MANIFEST).items():
        assert model.chunk_length == int(name)
        roles = {file.role for file in model.files}
        assert roles == {"esm2", "dnabert_s", "dnabert_s_config", "tokenizer", "head"}
        assert all(file.url.startswith("https://") for file in model.files)
        assert all(
            file.git_blob if file.role == "head" else file.size and file.sha256 for file in model.files
        )
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in model.files)
