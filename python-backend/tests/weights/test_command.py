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
from published_files import (
    DEMO,
    DNABERT_S,
    ESM2,
    RESOURCES,
    hugging_face_esm2,
    write_dnabert_s,
    write_fair_esm,
    write_head,
)

from virnucpro_backend.weights import __main__ as weights_main
from virnucpro_backend.weights.__main__ import main
from virnucpro_backend.weights.install import changing
from virnucpro_backend.weights.manifest import read_manifest
from virnucpro_backend.weights.model_folder import load_model

MANIFEST = RESOURCES / "models.json"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "published"
    folder.mkdir()
    write_head(folder / "500_model.pth")
    return {
        "esm2": write_fair_esm(folder, hugging_face_esm2()),
        "dnabert_s": write_dnabert_s(folder, prefix="", safetensors=False),
        "dnabert_s_config": folder / "config.json",
        "tokenizer": DEMO / "dnabert_s" / "tokenizer.json",
        "head": folder / "500_model.pth",
    }


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    code = main([str(argument) for argument in arguments])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def small_manifest(path: Path, site: Site, sources: dict[str, Path]) -> Path:
    """Write a manifest in the shipped one's layout with the files of this test."""
    content = json.loads(MANIFEST.read_text())
    for entry in content["files"].values():
        file = sources[entry["role"]]
        site.files[f"/{entry['role']}"] = file.read_bytes()
        entry |= {"url": f"{site.url}/{entry['role']}", "size": file.stat().st_size, "git_blob": None}
        entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    path.write_text(json.dumps(content))
    return path


def test_a_model_can_be_downloaded_and_verified(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    places = ("--weights", weights, "--manifest", manifest)

    code, lines = command(capsys, "get", "500", *places)
    assert (code, lines[-1]) == (0, {"type": "done", "folders": [str(weights / "500")]})
    steps = [line["step"] for line in lines if line["type"] == "progress"]
    assert "Downloading esm2_t36_3B_UR50D.pt" in steps
    assert "Converting ESM-2" in steps
    model = load_model(weights / "500", "cpu", "fp32")
    assert (model.esm2.config, model.dnabert_s.config) == (ESM2, DNABERT_S)
    assert model.chunk_length == 500
    assert model.norm_bands is not None
    assert model.norm_bands["esm2"].high == 16
    assert not (weights / "downloads").exists()

    assert command(capsys, "verify", weights / "500")[1][-1]["model_hash"] == model.model_hash
    encoder = next((weights / "shared").glob("esm2-*.safetensors"))
    damaged = bytearray(encoder.read_bytes())
    damaged[-1] ^= 1
    encoder.write_bytes(damaged)
    code, lines = command(capsys, "verify", weights / "500")
    assert (code, lines[-1]["code"]) == (1, "model_damaged")

    site.requests.clear()
    assert command(capsys, "get", "500", *places)[0] == 0
    assert (site.asked("/esm2"), site.asked("/dnabert_s")) == (1, 0), "only what is damaged is fetched again"
    assert command(capsys, "verify", weights / "500")[0] == 0


def test_encoders_are_downloaded_once_for_both_heads(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    places = ("--weights", weights, "--manifest", manifest)
    assert command(capsys, "get", "500", *places)[0] == 0
    site.requests.clear()
    code, lines = command(capsys, "get", "300", *places)
    assert code == 0
    assert {path for path, _ in site.requests} == {"/head", "/tokenizer"}
    small = sum(sources[role].stat().st_size for role in ("head", "tokenizer"))
    assert {line["total"] for line in lines if line.get("step", "").startswith("Downloading")} == {small}
    assert len(list((weights / "shared").glob("*.safetensors"))) == 2, "both models share their encoders"


def test_a_failure_keeps_completed_files(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    places = ("--weights", weights, "--manifest", manifest)
    esm2 = site.files.pop("/esm2")
    code, lines = command(capsys, "get", "500", *places)
    assert (code, lines[-1]["code"]) == (1, "download_failed")
    site.files["/esm2"] = esm2
    site.requests.clear()
    assert command(capsys, "get", "500", *places)[0] == 0
    assert site.asked("/dnabert_s") == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM] if os.name == "posix" else [signal.SIGTERM])
def test_a_killed_download_is_resumed(
    tmp_path: Path,
    site: Site,
    sources: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    how: signal.Signals,
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    arguments = ["get", "500", "--weights", str(weights), "--manifest", str(manifest)]
    part = weights / "downloads" / "esm2" / "esm2_t36_3B_UR50D.pt.part"
    site.seconds_per_block = 0.02
    command_line = [sys.executable, "-m", "virnucpro_backend.weights", *arguments]
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

    site.seconds_per_block, site.sent = 0, 0
    site.requests.clear()
    code, lines = command(capsys, *arguments)
    assert code == 0
    assert ("/esm2", f"bytes={kept}-") in site.requests
    assert (site.asked("/esm2"), site.asked("/dnabert_s")) == (1, 0)
    done = next(line["done"] for line in lines if line.get("step") == "Downloading esm2_t36_3B_UR50D.pt")
    assert done >= kept, "the bar begins where it was"
    assert load_model(weights / "500", "cpu", "fp32").esm2.config == ESM2


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
    tmp_path: Path,
    site: Site,
    sources: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manifest = small_manifest(tmp_path / "models.json", site, sources)
    content = json.loads(manifest.read_text())
    content["files"]["esm2_3b"]["size"] = 5_678_116_398
    manifest.write_text(json.dumps(content))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=4_200_000_000))
    code, lines = command(capsys, "get", "500", "--weights", tmp_path / "w", "--manifest", manifest)
    assert (code, lines[-1]["code"]) == (1, "disk_full")
    assert "11.4 GB" in lines[-1]["message"]
    assert "4.0 GB are free" in lines[-1]["message"]
    assert "Free 7.4 GB" in lines[-1]["next_step"]
    assert site.requests == []


def test_offline_mode_is_reported_before_downloading(
    tmp_path: Path,
    site: Site,
    sources: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manifest = small_manifest(tmp_path / "models.json", site, sources)
    content = json.loads(manifest.read_text())
    content["files"]["dnabert_s"]["url"] = "https://huggingface.co/x/pytorch_model.bin"
    manifest.write_text(json.dumps(content))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, lines = command(capsys, "get", "500", "--weights", tmp_path / "w", "--manifest", manifest)
    assert (code, lines[-1]["code"]) == (1, "network_blocked")
    assert site.requests == []


def test_files_can_be_downloaded_from_a_mirror(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = small_manifest(tmp_path / "models.json", site, sources)
    for entry in json.loads(manifest.read_text())["files"].values():
        site.files[f"/mirror/{entry['name']}"] = site.files[f"/{entry['role']}"]
    places = ("--weights", tmp_path / "w", "--manifest", manifest)
    assert command(capsys, "get", "300", *places, "--mirror", f"{site.url}/mirror")[0] == 0
    assert all(path.startswith("/mirror/") for path, _ in site.requests)


def test_a_head_that_is_not_the_published_one_is_refused(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = small_manifest(tmp_path / "models.json", site, sources)
    content = json.loads(manifest.read_text())
    for entry in content["files"].values():
        if entry["role"] == "head":
            entry |= {"sha256": None, "git_blob": "0" * 40}
    manifest.write_text(json.dumps(content))
    code, lines = command(capsys, "get", "300", "--weights", tmp_path / "w", "--manifest", manifest)
    assert (code, lines[-1]["code"]) == (1, "model_damaged")
    assert "git blob" in lines[-1]["message"]


@pytest.mark.parametrize("role", ["head", "tokenizer", "dnabert_s_config"])
def test_a_wrong_small_file_is_refused_before_the_large_one_is_downloaded(
    role: str, tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = small_manifest(tmp_path / "models.json", site, sources)
    content = site.files[f"/{role}"]
    if role == "head":  # another kind of module, with the right hash
        torch.save({"weight": torch.ones(2)}, tmp_path / "other.pth")
        content = (tmp_path / "other.pth").read_bytes()
        described = json.loads(manifest.read_text())
        described["files"]["head_500"] |= {
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        manifest.write_text(json.dumps(described))
    site.files[f"/{role}"] = content if role == "head" else content.replace(b"[MASK]", b"[KSAM]") + b" "
    code, _ = command(capsys, "get", "500", "--weights", tmp_path / "w", "--manifest", manifest)
    assert code == 1
    assert not any(path == "/esm2" for path, _ in site.requests)


def test_only_one_process_at_a_time_changes_weights(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    with changing(weights):
        code, lines = command(capsys, "get", "500", "--weights", weights, "--manifest", manifest)
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
