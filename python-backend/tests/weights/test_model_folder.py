from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from published_files import DEMO

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.weights import verified
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.model_folder import load_model
from virnucpro_backend.weights.model_json import read_model_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO, tmp_path / "model"))


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)]
)
def test_loads_in_every_precision(precision: Precision, dtype: torch.dtype) -> None:
    model = load_model(DEMO, "cpu", precision)
    assert (model.name, model.chunk_length) == ("demo", 500)
    assert model.notice == "demo model, no biological meaning"
    assert model.norm_bands is None
    for encoder in (model.esm2, model.dnabert_s):
        linears = [m for m in encoder.modules() if isinstance(m, torch.nn.Linear)]
        assert {linear.weight.dtype for linear in linears} == {dtype}
        others = {id(p) for m in linears for p in m.parameters()}
        assert {p.dtype for p in encoder.parameters() if id(p) not in others} == {torch.float32}
        assert not any(p.is_meta for p in [*encoder.parameters(), *encoder.buffers()])
    assert model.head.inputs == model.dnabert_s.config.width + model.esm2.config.width


def test_weights_are_not_views_of_the_file(folder: Path) -> None:
    model = load_model(folder, "cpu", "fp32")
    before = model.dnabert_s.embedding.weight.clone()
    file = folder / "dnabert_s" / "pytorch_model.bin"
    with open(file, "r+b") as stream:
        stream.write(bytes(file.stat().st_size))
    assert torch.equal(model.dnabert_s.embedding.weight, before)


def test_the_model_hash_follows_the_files(folder: Path) -> None:
    before = read_model_json(folder).model_hash
    content = json.loads((folder / "model.json").read_text())
    content["title"] = "Another title"
    (folder / "model.json").write_text(json.dumps(content))
    assert read_model_json(folder).model_hash == before
    content["files"]["head"]["sha256"] = "0" * 64
    (folder / "model.json").write_text(json.dumps(content))
    assert read_model_json(folder).model_hash != before


def test_a_changed_or_missing_file_is_named(folder: Path) -> None:
    file = folder / "esm2_demo.pt"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + b"x")
    with pytest.raises(WeightsError, match=r"esm2_demo\.pt is damaged") as caught:
        load_model(folder, "cpu", "fp32")
    assert caught.value.code == "model_damaged"
    file.write_bytes(whole[:-1])
    with pytest.raises(WeightsError, match=r"bytes instead of"):
        load_model(folder, "cpu", "fp32")
    file.unlink()
    with pytest.raises(WeightsError, match=r"esm2_demo\.pt is missing") as caught:
        load_model(folder, "cpu", "fp32")
    assert caught.value.code == "model_missing"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, "schema"),
        ({"chunk_length": "500"}, "chunk_length"),
        ({"chunk_length": True}, "chunk_length"),
        ({"name": ""}, "name"),
        ({"files": {}}, r"`esm2` - at `\$\.files`"),
        ({"esm2": {"layers": 2}}, "width"),
        ({"esm2": {"layers": 2, "width": 64, "heads": 7, "feed_forward": 9}}, "multiple"),
        ({"norm_bands": {"esm2": [1]}}, "norm_bands.esm2"),
        ({"esm2": {"layers": 300_000, "width": 64, "heads": 4, "feed_forward": 256}}, "too small"),
    ],
)
def test_a_wrong_model_json_is_explained(folder: Path, change: Any, words: str) -> None:
    content = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(WeightsError, match=words):
        read_model_json(folder)


@pytest.mark.parametrize("path", ["/etc/passwd", "../../x", "a/../../x", "C:/x", "..\\x"])
def test_files_outside_the_folder_are_refused(folder: Path, path: str) -> None:
    content = json.loads((folder / "model.json").read_text())
    content["files"]["head"]["path"] = path
    (folder / "model.json").write_text(json.dumps(content))
    with pytest.raises(WeightsError, match=r"`path` must .* `\$\.files\.head`"):
        read_model_json(folder)


def test_a_missing_model_json_is_reported(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not a model") as caught:
        read_model_json(tmp_path)
    assert caught.value.code == "model_unknown"


def test_large_files_are_hashed_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRNUCPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(verified, "WORTH_REMEMBERING", 1000)
    hashed: list[str] = []
    really = verified.sha256_of_file
    monkeypatch.setattr(verified, "sha256_of_file", lambda path: hashed.append(path.name) or really(path))
    load_model(folder, "cpu", "fp32")
    assert len(hashed) == 4
    load_model(folder, "cpu", "fp32")
    assert len(hashed) == 4
    file = folder / "500_model.pth"
    os.utime(file, ns=(1, 1))
    load_model(folder, "cpu", "fp32")
    assert hashed[4:] == ["500_model.pth"]
    status = file.stat()
    file.write_bytes(bytes(status.st_size))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(WeightsError, match="damaged"):
        load_model(folder, "cpu", "fp32")
