"""Tests files on this computer in every published layout, with meaningless names."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from published_files import (
    DEMO,
    DNABERT_S,
    ESM2,
    RESOURCES,
    hugging_face_esm2,
    write_dnabert_s,
    write_fair_esm,
    write_head,
    write_hugging_face_bin,
    write_hugging_face_safetensors,
)
from safetensors.torch import save_file

from virnucpro_backend.weights.__main__ import main
from virnucpro_backend.weights.formats.names import head_state
from virnucpro_backend.weights.formats.recognise import recognise
from virnucpro_backend.weights.manifest import git_blob_id
from virnucpro_backend.weights.model_folder import load_model

MANIFEST = RESOURCES / "models.json"
TOKENIZER = DEMO / "dnabert_s" / "tokenizer.json"


def write_sharded_safetensors(folder: Path) -> None:
    """Write the format of Hugging Face's conversion: two parts, their index, `config.json`."""
    model = hugging_face_esm2()
    tensors = {name: tensor.clone().contiguous() for name, tensor in model.state_dict().items()}
    names = [name for name in tensors if not name.endswith("inv_freq")]
    weight_map = {}
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :]), start=1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": weight_map})
    )
    model.config.save_pretrained(folder)


def esm2_layout(name: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    if name == "fair-esm":
        write_fair_esm(folder, hugging_face_esm2())
    elif name == "sharded .bin":
        write_hugging_face_bin(folder, hugging_face_esm2())
    elif name == "sharded safetensors":
        write_sharded_safetensors(folder)
    else:
        write_hugging_face_safetensors(folder, hugging_face_esm2())


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Make DNABERT-S and a classifier as published, and the tokenizer; each test adds ESM-2."""
    folder = tmp_path / "dropped"
    (folder / "DNABERT-S").mkdir(parents=True)
    write_dnabert_s(folder / "DNABERT-S", prefix="", safetensors=False)
    shutil.copy(TOKENIZER, folder / "DNABERT-S")
    write_head(folder / "500_model.pth")
    return folder


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    code = main([str(argument) for argument in arguments])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def places(tmp_path: Path, manifest: Path = MANIFEST) -> tuple[object, ...]:
    return ("--weights", tmp_path / "weights", "--manifest", manifest)


@pytest.mark.parametrize(
    "layout", ["fair-esm", "sharded .bin", "sharded safetensors", "one safetensors file"]
)
def test_every_layout_becomes_a_model(
    layout: str, tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout(layout, published / "ESM-2")
    code, lines = command(capsys, "look", *places(tmp_path), published)
    assert code == 0
    found = lines[-1]
    assert found["encoders"] == ["dnabert_s", "esm2"]
    assert [(m["name"], m["chunk_length"], m["missing"], m["problem"]) for m in found["models"]] == [
        ("500_model", 500, [], None)
    ]
    code, lines = command(capsys, "import", *places(tmp_path), published, "--name", "mine")
    assert (code, lines[-1]) == (0, {"type": "done", "folders": [str(tmp_path / "weights" / "mine")]})
    model = load_model(tmp_path / "weights" / "mine", "cpu", "fp32")
    assert (model.name, model.chunk_length, model.norm_bands) == ("mine", 500, None)
    assert (model.esm2.config, model.dnabert_s.config) == (ESM2, DNABERT_S)
    expected = hugging_face_esm2().state_dict()["esm.encoder.layer.1.intermediate.dense.weight"]
    assert torch.equal(model.esm2.state_dict()["layers.1.fc1.weight"], expected)


def test_files_are_recognised_whatever_they_are_called(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All files are in one folder without endings, and the parts of ESM-2 have no index."""
    esm2_layout("sharded safetensors", published / "ESM-2")
    flat = tmp_path / "flat"
    flat.mkdir()
    files = sorted(path for path in published.rglob("*") if path.is_file() and "index" not in path.name)
    for number, path in enumerate(files):
        shutil.copy(path, flat / f"download ({number})")
    kinds = sorted(file.kind for file in recognise([flat]).files)
    assert kinds == ["config", "config", "dnabert_s", "esm2", "esm2", "head", "tokenizer"]
    code, _ = command(
        capsys, "import", *places(tmp_path), *sorted(flat.iterdir()), "--chunk-length", 400, "--name", "neu ä"
    )
    assert code == 0
    model = load_model(tmp_path / "weights" / "neu ä", "cpu", "fp32")
    assert (model.chunk_length, model.esm2.config.heads, model.dnabert_s.config.heads) == (400, 3, 3)


def test_a_second_classifier_needs_nothing_else(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("fair-esm", published / "ESM-2")
    assert command(capsys, "import", *places(tmp_path), published)[0] == 0
    write_head(tmp_path / "other_300.pth")
    code, lines = command(capsys, "import", *places(tmp_path), tmp_path / "other_300.pth")
    assert code == 0
    model = load_model(Path(lines[-1]["folders"][0]), "cpu", "fp32")
    assert (model.name, model.chunk_length) == ("other_300", 300)
    assert len(list((tmp_path / "weights" / "shared").glob("*.safetensors"))) == 2


def test_encoders_alone_are_kept_for_later(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("fair-esm", tmp_path / "esm")
    code, lines = command(capsys, "import", *places(tmp_path), tmp_path / "esm")
    assert (code, lines[-1]["folders"]) == (0, [])
    code, lines = command(capsys, "import", *places(tmp_path), published)
    assert (code, len(lines[-1]["folders"])) == (0, 1)


def test_published_files_become_the_published_model(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("fair-esm", published / "ESM-2")
    content = json.loads(MANIFEST.read_text())
    for key, path in (
        ("esm2_3b", published / "ESM-2" / "esm2_small.pt"),
        ("dnabert_s", published / "DNABERT-S" / "pytorch_model.bin"),
    ):
        content["files"][key]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    content["files"]["head_500"]["git_blob"] = git_blob_id(published / "500_model.pth")
    manifest = tmp_path / "models.json"
    manifest.write_text(json.dumps(content))
    (published / "500_model.pth").rename(published / "classifier")
    code, lines = command(capsys, "look", *places(tmp_path, manifest), published)
    assert [(m["published"], m["chunk_length"]) for m in lines[-1]["models"]] == [("500", 500)]
    code, lines = command(capsys, "import", *places(tmp_path, manifest), published)
    assert (code, lines[-1]["code"]) == (1, "model_damaged"), "the tokenizer is another one"
    tokenizer = hashlib.sha256(TOKENIZER.read_bytes()).hexdigest()
    content["files"]["dnabert_s_tokenizer"]["sha256"] = tokenizer
    manifest.write_text(json.dumps(content))
    code, lines = command(capsys, "import", *places(tmp_path, manifest), published)
    assert (code, lines[-1]["folders"]) == (0, [str(tmp_path / "weights" / "500")])
    model = load_model(tmp_path / "weights" / "500", "cpu", "fp32")
    assert (model.title, model.norm_bands is None) == ("VirNucPro, 500-bp model", False)


def test_a_classifier_for_other_encoders_is_refused_before_anything_is_converted(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("fair-esm", published / "ESM-2")
    write_head(published / "500_model.pth", inputs=3328)
    _, lines = command(capsys, "look", *places(tmp_path), published)
    assert "takes 3328 numbers, but these encoders give 24 + 48 = 72" in lines[-1]["models"][0]["problem"]
    code, lines = command(capsys, "import", *places(tmp_path), published)
    assert (code, lines[-1]["code"]) == (1, "model_damaged")
    assert "trained with other encoders" in lines[-1]["message"]
    assert list((tmp_path / "weights" / "shared").iterdir()) == []


@pytest.mark.parametrize(
    ("drop", "code", "words"),
    [
        ("head only", "model_missing", "ESM-2 and DNABERT-S and tokenizer.json"),
        ("one shard", "model_missing", "is missing"),
        ("nothing", "model_damaged", "None of these files holds weights"),
        ("not there", "model_missing", "is not there"),
        ("two names", "import_refused", "several classifiers"),
        ("bad name", "import_refused", "cannot be called"),
    ],
)
def test_what_cannot_be_imported_is_reported(
    drop: str,
    code: str,
    words: str,
    tmp_path: Path,
    published: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths: list[object] = [published]
    if drop == "head only":
        paths = [published / "500_model.pth"]
    elif drop == "one shard":
        esm2_layout("sharded safetensors", published / "ESM-2")
        (published / "ESM-2" / "model-00002-of-00002.safetensors").unlink()
    elif drop == "nothing":
        (tmp_path / "reads.fa").write_text(">a\nACGT\n")
        paths = [tmp_path / "reads.fa"]
    elif drop == "not there":
        paths = [tmp_path / "nowhere"]
    elif drop == "two names":
        esm2_layout("fair-esm", published / "ESM-2")
        write_head(published / "300_model.pth")
        paths += ["--name", "mine"]
    else:
        esm2_layout("fair-esm", published / "ESM-2")
        paths += ["--name", "../mine"]
    result, lines = command(capsys, "import", *places(tmp_path), *paths)
    assert (result, lines[-1]["type"], lines[-1]["code"]) == (1, "error", code)
    assert words in lines[-1]["message"]


USELESS = {
    "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "web_page": b"<!DOCTYPE html><html>Sign in</html>",
    "empty": b"",
    "unreadable": b"PK\x03\x04 cut short",
    "unknown": bytes(100),
}


@pytest.mark.parametrize("why", USELESS)
def test_the_reason_why_a_file_is_unusable_is_reported(
    why: str, tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """This also holds beside good files, from which no incomplete model is made."""
    file = tmp_path / "mine.pth"
    file.write_bytes(USELESS[why])
    esm2_layout("fair-esm", published / "ESM-2")
    (published / "500_model.pth").unlink()
    _, looked = command(capsys, "look", *places(tmp_path), published, file)
    code, imported = command(capsys, "import", *places(tmp_path), published, file)
    for lines in (looked, imported):
        [note] = [line["note"] for line in lines if line["type"] == "file" and line["path"] == str(file)]
        assert note["why"] == why
    assert code == (0 if why == "unknown" else 1)
    assert (tmp_path / "weights" / "shared").exists() == (why == "unknown")
    assert [line["lost"] for line in imported if line["type"] == "file"] == [True]


def test_what_was_asked_for_and_not_taken_is_told_apart_from_what_only_lay_there(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("fair-esm", published / "ESM-2")
    (published / "500_model.pth").unlink()
    (published / "README.md").write_text("Weights")
    assert lost_paths(capsys, tmp_path, published) == []
    assert lost_paths(capsys, tmp_path, published, published / "README.md") == [published / "README.md"]
    (tmp_path / "others").mkdir()
    assert lost_paths(capsys, tmp_path, published, tmp_path / "others") == [tmp_path / "others"]
    broken = published / "500_model.safetensors"
    broken.write_bytes(b"\xff" * 100)
    assert lost_paths(capsys, tmp_path, published) == [broken]


def lost_paths(capsys: pytest.CaptureFixture[str], folder: Path, *paths: Path) -> list[Path]:
    """What an import of these paths, which succeeds, could not take."""
    code, lines = command(capsys, "import", *places(folder), *paths)
    assert code == 0
    return [Path(line["path"]) for line in lines if line["type"] == "file" and line["lost"]]


def test_a_file_smaller_than_the_published_one_is_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "esm2_t36_3B_UR50D.pt"
    file.write_bytes(b"PK\x03\x04" + bytes(13_000))
    _, lines = command(capsys, "look", *places(tmp_path), file)
    [note] = [line["note"] for line in lines if line["type"] == "file"]
    assert (note["why"], note["published"]) == ("too_small", 5_678_116_398)


def test_the_index_of_a_sharded_file_is_not_enough(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    esm2_layout("sharded safetensors", published / "ESM-2")
    index = published / "ESM-2" / "model.safetensors.index.json"
    others = [published / "DNABERT-S", published / "500_model.pth"]
    code, lines = command(capsys, "import", *places(tmp_path), index, *others)
    assert (code, [line["note"]["why"] for line in lines if line["type"] == "file"]) == (1, ["index_alone"])
    assert command(capsys, "import", *places(tmp_path), index.parent, *others)[0] == 0


@pytest.mark.parametrize(
    "wrapping", ["module", "state_dict", "model_state_dict", "model", "parallel", "inside"]
)
def test_a_classifier_is_read_however_it_was_saved(wrapping: str, tmp_path: Path) -> None:
    state = write_head(tmp_path / "head.pth", wrapped=wrapping)
    [head] = recognise([tmp_path / "head.pth"]).heads
    assert all(torch.equal(tensor, state[name]) for name, tensor in head_state(head.checkpoint).items())


def test_layer_numbers_in_names_are_not_trusted(tmp_path: Path) -> None:
    """Layers are built before they are read and take memory, so names alone must not decide their number."""
    tensors = {"layers.0.fc1.weight": torch.ones(4, 2), "layers.3000000.self_attn.x": torch.ones(1)}
    torch.save(tensors, tmp_path / "a.pt")
    assert recognise([tmp_path]).problems
