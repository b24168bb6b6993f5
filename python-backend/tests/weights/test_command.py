"""`python -m virnucpro_backend.weights` from end to end, against a server on this computer."""

from __future__ import annotations

import hashlib
import json
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
    hugging_face_esm2,
    write_dnabert_s,
    write_fair_esm,
    write_head,
)

from virnucpro_backend.weights.__main__ import main
from virnucpro_backend.weights.manifest import read_manifest
from virnucpro_backend.weights.model_folder import load_model

MANIFEST = DEMO.parent / "models.json"


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
    """The shipped manifest's layout with the files of this test."""
    content = json.loads(MANIFEST.read_text())
    for entry in content["files"].values():
        file = sources[entry["role"]]
        site.files[f"/{entry['role']}"] = file.read_bytes()
        entry |= {"url": f"{site.url}/{entry['role']}", "size": file.stat().st_size}
        entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    path.write_text(json.dumps(content))
    return path


def test_get_list_verify(
    tmp_path: Path, site: Site, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, weights = small_manifest(tmp_path / "models.json", site, sources), tmp_path / "weights"
    places = ("--weights", weights, "--manifest", manifest)
    _, lines = command(capsys, "list", *places)
    assert [(line["name"], line["present"], line["problem"]) for line in lines] == [
        ("300", False, None),
        ("500", False, None),
    ]

    code, lines = command(capsys, "get", "500", *places)
    assert code == 0
    assert lines[-1] == {"type": "done", "folder": str(weights / "500")}
    steps = [line["step"] for line in lines[:-1]]
    assert steps[0] == "download esm2_small.pt" or steps[0].startswith("download ")
    assert "convert the ESM-2" in steps
    model = load_model(weights / "500", "cpu", "fp32")
    assert (model.esm2.config, model.dnabert_s.config) == (ESM2, DNABERT_S)
    assert model.chunk_length == 500
    assert model.norm_bands is not None
    assert model.norm_bands["esm2"].high == 16
    assert not (weights / "downloads").exists()

    command(capsys, "get", "300", *places)
    assert len(list((weights / "shared").glob("*.safetensors"))) == 2, "both models share their encoders"
    _, lines = command(capsys, "list", *places)
    assert [line["present"] for line in lines] == [True, True]

    assert command(capsys, "verify", weights / "500")[1][0]["model_hash"] == model.model_hash
    encoder = next((weights / "shared").glob("esm2-*.safetensors"))
    damaged = bytearray(encoder.read_bytes())
    damaged[-1] ^= 1
    encoder.write_bytes(damaged)
    code, lines = command(capsys, "verify", weights / "500")
    assert (code, lines[0]["code"]) == (1, "model_damaged")
    _, lines = command(capsys, "list", *places)
    assert [line["problem"]["code"] for line in lines] == ["model_damaged"] * 2


def test_import_gives_the_embeddings_of_the_published_files(
    tmp_path: Path, sources: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        part
        for role in ("esm2", "dnabert_s", "tokenizer", "head")
        for part in (f"--{role.replace('_', '-')}", sources[role])
    ]
    arguments = ("--weights", tmp_path / "weights", "--chunk-length", 400, *files)
    code, lines = command(capsys, "import", "mine", *arguments)
    assert (code, lines[-1]["type"]) == (0, "done")
    model = load_model(Path(lines[-1]["folder"]), "cpu", "fp32")
    assert (model.name, model.chunk_length, model.norm_bands) == ("mine", 400, None)
    expected = torch.load(sources["dnabert_s"], weights_only=True)
    name = "encoder.layer.1.attention.self.Wqkv.weight"
    assert torch.equal(model.dnabert_s.state_dict()["layers.1.qkv.weight"], expected[name])
    code, lines = command(capsys, "import", "../mine", *arguments)
    assert (code, lines[-1]["code"]) == (1, "model_unknown")


def test_errors_are_lines_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = command(capsys, "get", "900", "--weights", tmp_path, "--manifest", MANIFEST)
    assert code == 1
    assert lines[0]["type"] == "error"
    assert "300, 500" in lines[0]["next_step"]
    code, lines = command(capsys, "convert", "head", tmp_path / "none.pth", tmp_path / "out")
    assert (code, lines[0]["code"]) == (1, "model_missing")


def test_the_shipped_manifest_is_whole() -> None:
    for name, model in read_manifest(MANIFEST).items():
        assert model.chunk_length == int(name)
        roles = {file.role for file in model.files}
        assert roles == {"esm2", "dnabert_s", "dnabert_s_config", "tokenizer", "head"}
        assert all(file.url.startswith("https://") for file in model.files)
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in model.files)
