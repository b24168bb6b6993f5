"""Every published format and ours give the same embeddings."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from published_files import (
    DNABERT_S,
    ESM2,
    hugging_face_esm2,
    write_dnabert_s,
    write_fair_esm,
    write_head,
    write_hugging_face_safetensors,
)
from safetensors import safe_open
from torch import Tensor

from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint
from virnucpro_backend.weights.formats.convert import convert_encoder, convert_head
from virnucpro_backend.weights.formats.names import (
    dnabert_s_config,
    dnabert_s_state,
    esm2_config,
    esm2_state,
    head_state,
)
from virnucpro_backend.weights.model_folder import fill

CPU = torch.device("cpu")


def embed_esm2(path: Path) -> Tensor:
    checkpoint, model = open_checkpoint(path), Esm2(ESM2)
    assert esm2_config(checkpoint) == ESM2
    fill(model, esm2_state(checkpoint, ESM2), CPU, path.name)
    tokens = torch.tensor([0, 5, 6, 7, 20, 21, 2] * 4, dtype=torch.int32)
    return model.embed(tokens, SequenceLayout.from_lengths([14, 14], CPU))


def embed_dnabert_s(path: Path) -> Tensor:
    checkpoint, model = open_checkpoint(path), DnabertS(DNABERT_S)
    assert dnabert_s_config(checkpoint) == DNABERT_S
    fill(model, dnabert_s_state(checkpoint, DNABERT_S), CPU, path.name)
    tokens = torch.tensor([1, 5, 600, 7, 20, 4095, 2] * 4, dtype=torch.int32)
    return model.embed(tokens, SequenceLayout.from_lengths([14, 14], CPU))


def test_every_esm2_format_gives_the_same_bits(tmp_path: Path) -> None:
    model = hugging_face_esm2()
    for name in ("safetensors", "fair"):
        (tmp_path / name).mkdir()
    published = [
        write_hugging_face_safetensors(tmp_path / "safetensors", model),
        write_fair_esm(tmp_path / "fair", model),
    ]
    expected = embed_esm2(published[0])
    assert expected.isfinite().all()
    hashes = set()
    for number, path in enumerate(published):
        assert torch.equal(embed_esm2(path), expected)
        converted = tmp_path / f"{number}.safetensors"
        config, written = convert_encoder("esm2", open_checkpoint(path), converted)
        assert config == ESM2
        assert torch.equal(embed_esm2(converted), expected)
        assert written.sha256 == sha256_of_file(converted)
        hashes.add(written.sha256)
    assert len(hashes) == 1, "FP32 files of FP16 numbers convert to the same bytes as FP16 files"
    with safe_open(tmp_path / "0.safetensors", "pt") as file:
        assert file.get_tensor("layers.0.qkv.weight").dtype == torch.float16
        assert file.get_tensor("embedding.weight").dtype == torch.float32


def test_every_dnabert_s_format_gives_the_same_bits(tmp_path: Path) -> None:
    results = []
    for prefix in ("", "bert."):
        for safetensors in (False, True):
            folder = tmp_path / f"{prefix}{safetensors}"
            folder.mkdir()
            path = write_dnabert_s(folder, prefix=prefix, safetensors=safetensors)
            results.append(embed_dnabert_s(path))
            convert_encoder("dnabert_s", open_checkpoint(path), folder / "converted.safetensors")
            results.append(embed_dnabert_s(folder / "converted.safetensors"))
    assert results[0].isfinite().all()
    assert all(torch.equal(result, results[0]) for result in results)
    with safe_open(folder / "converted.safetensors", "pt") as file:
        assert file.get_tensor("layers.0.qkv.weight").dtype == torch.float32, "nothing is lost"


@pytest.mark.parametrize(
    "wrapped", ["module", "state_dict", "model_state_dict", "model", "parallel", "inside"]
)
def test_a_classifier_is_read_however_it_was_saved(wrapped: str, tmp_path: Path) -> None:
    expected = write_head(tmp_path / "500_model.pth", wrapped=wrapped)
    convert_head(open_checkpoint(tmp_path / "500_model.pth"), tmp_path / "head.safetensors")
    for name in ("500_model.pth", "head.safetensors"):
        state = head_state(open_checkpoint(tmp_path / name))
        assert all(torch.equal(tensor, expected[name]) for name, tensor in state.items())


def test_norms_of_esm2_may_be_called_gamma_and_beta(tmp_path: Path) -> None:
    model = hugging_face_esm2()
    plain = embed_esm2(write_hugging_face_safetensors(tmp_path, model))
    (tmp_path / "model.safetensors").unlink()
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in model.state_dict().items()
    }
    assert any(name.endswith("gamma") for name in tensors)
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    assert torch.equal(embed_esm2(tmp_path / "pytorch_model.bin"), plain)


def test_a_wrong_file_is_refused_with_an_explanation(tmp_path: Path) -> None:
    dnabert_s = write_dnabert_s(tmp_path)
    with pytest.raises(WeightsError, match=r"pytorch_model\.bin cannot be read as weights"):
        convert_encoder("esm2", open_checkpoint(dnabert_s), tmp_path / "out")
    with pytest.raises(WeightsError, match=r"hidden_layer\.weight is missing"):
        convert_head(open_checkpoint(dnabert_s), tmp_path / "out")
    (tmp_path / "config.json").unlink()
    with pytest.raises(WeightsError, match=r"config\.json is missing"):
        convert_encoder("dnabert_s", open_checkpoint(dnabert_s), tmp_path / "out")
    assert not (tmp_path / "out").exists()
