"""Tests files on this computer in every published layout."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from published_files import DNABERT_S, ESM2, RESOURCES, hugging_face_esm2, write_head, write_published

from virnucpro_backend.weights.__main__ import main
from virnucpro_backend.weights.manifest import git_blob_id
from virnucpro_backend.weights.model_folder import load_model

MANIFEST = RESOURCES / "models.json"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Make the files of a model as published, beside one that is none of them."""
    write_published(tmp_path / "dropped")
    (tmp_path / "dropped" / "README.md").write_text("Weights")
    return tmp_path / "dropped"


def importing(
    capsys: pytest.CaptureFixture[str], folder: Path, *arguments: object, manifest: Path = MANIFEST
) -> tuple[int, dict[str, Any]]:
    """Import into `folder/weights`; return the exit code and the last line."""
    given = ["import", "--weights", folder / "weights", "--manifest", manifest, *arguments]
    code = main([str(argument) for argument in given])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_files_of_published_names_become_a_model(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = importing(capsys, tmp_path, published, "--name", "neu ä", "--chunk-length", 400)
    assert answer == (0, {"type": "done", "folders": [str(tmp_path / "weights" / "neu ä")]})
    model = load_model(tmp_path / "weights" / "neu ä", "cpu", "fp32")
    assert (model.name, model.chunk_length, model.norm_bands) == ("neu ä", 400, None)
    assert (model.esm2.config, model.dnabert_s.config) == (ESM2, DNABERT_S)
    expected = hugging_face_esm2().state_dict()["esm.encoder.layer.1.intermediate.dense.weight"]
    assert torch.equal(model.esm2.state_dict()["layers.1.fc1.weight"], expected)


def test_encoders_are_kept_for_classifiers_that_are_imported_later(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (published / "ESM-2").rename(tmp_path / "esm")
    assert importing(capsys, tmp_path, tmp_path / "esm") == (0, {"type": "done", "folders": []})
    assert importing(capsys, tmp_path, published, "--chunk-length", 500)[0] == 0
    write_head(tmp_path / "other.pth")
    code, line = importing(capsys, tmp_path, tmp_path / "other.pth", "--chunk-length", 300)
    assert code == 0
    model = load_model(Path(line["folders"][0]), "cpu", "fp32")
    assert (model.name, model.chunk_length) == ("other", 300)
    assert len(list((tmp_path / "weights" / "shared").glob("*.safetensors"))) == 2


def test_published_files_become_the_published_model(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(MANIFEST.read_text())
    sha256 = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in published.glob("*/*")}
    content["files"]["esm2_3b"]["sha256"] = sha256["esm2_t36_3B_UR50D.pt"]
    content["files"]["dnabert_s"]["sha256"] = sha256["pytorch_model.bin"]
    content["files"]["head_500"]["git_blob"] = git_blob_id(published / "500_model.pth")
    manifest = tmp_path / "models.json"
    manifest.write_text(json.dumps(content))
    (published / "500_model.pth").rename(published / "classifier.pth")
    given = (published, published / "classifier.pth")
    code, line = importing(capsys, tmp_path, *given, manifest=manifest)
    assert (code, line["code"]) == (1, "model_damaged"), "the tokenizer is another one"
    content["files"]["dnabert_s_tokenizer"]["sha256"] = sha256["tokenizer.json"]
    manifest.write_text(json.dumps(content))
    code, line = importing(capsys, tmp_path, *given, manifest=manifest)
    assert (code, line["folders"]) == (0, [str(tmp_path / "weights" / "500")])
    model = load_model(tmp_path / "weights" / "500", "cpu", "fp32")
    assert (model.title, model.norm_bands is None) == ("VirNucPro, 500-bp model", False)


def test_what_does_not_fit_is_refused_before_anything_is_converted(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.pth"

    def refused(code: str, words: str, *arguments: object) -> None:
        result, line = importing(capsys, tmp_path, *arguments)
        assert (result, line["type"], line["code"]) == (1, "error", code)
        assert words in line["message"]
        assert list(tmp_path.glob("weights/shared/*")) == []

    refused("import_refused", "with which chunk length 500_model.pth was trained", published)
    refused("import_refused", "cannot be called", published, "--name", "../mine", "--chunk-length", 500)
    refused("import_refused", "holds no weights", published / "README.md")
    refused("model_missing", "is not there", tmp_path / "nowhere")
    refused("model_missing", "ESM-2 and DNABERT-S and tokenizer.json", published / "500_model.pth", *LENGTH)
    (tmp_path / "empty").mkdir()
    refused("import_refused", "has the name of a published one", published, tmp_path / "empty")
    shutil.copytree(published / "ESM-2", tmp_path / "again")
    refused("import_refused", "ESM-2 is there twice", published, tmp_path / "again", *LENGTH)
    write_head(own)
    refused("import_refused", "several classifiers", published, own, "--name", "mine")
    write_head(own, inputs=3328)
    refused("model_damaged", "3328 numbers, but these encoders give 24 + 48 = 72", published, own, *LENGTH)
    for content in USELESS:
        own.write_bytes(content)
        refused("model_damaged", "own.pth cannot be read as weights", published, own, *LENGTH)
    shutil.copy(published / "ESM-2" / "esm2_t36_3B_UR50D.pt", own)
    refused("model_damaged", "hidden_layer.weight is missing", published, own, *LENGTH)


LENGTH = ("--chunk-length", 500)
USELESS = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    b"<!DOCTYPE html><html>Sign in</html>",
    b"",
    b"PK\x03\x04 cut short",
    bytes(100),
)


def test_layer_numbers_in_names_are_not_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Layers are built before they are read and take memory, so names alone must not decide their number."""
    tensors = {
        "layers.0.fc1.weight": torch.ones(4, 2),
        "layers.3000000.self_attn.rot_emb.inv_freq": torch.ones(1),
    }
    torch.save(tensors, tmp_path / "esm2_t36_3B_UR50D.pt")
    code, line = importing(capsys, tmp_path, tmp_path / "esm2_t36_3B_UR50D.pt")
    assert code == 1
    assert "a layer is missing" in line["message"]
