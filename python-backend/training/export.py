"""Writes a trained model as a model folder, in the formats to which the backend converts weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import tokenizers
from torch import Tensor, nn

from training.networks import Model
from virnucpro_backend.encoders.float32 import inverse_frequencies
from virnucpro_backend.encoders.head import HEAD_TENSORS
from virnucpro_backend.safetensors_file import sha256_of_file, write_safetensors
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, write_model_json

FILES = {
    "esm2": "esm2.safetensors",
    "dnabert_s": "dnabert_s.safetensors",
    "tokenizer": "tokenizer.json",
    "head": "500_model.safetensors",
}
CHUNK_LENGTH = 500


def write_model_folder(folder: Path, model: Model, tokenizer: tokenizers.Tokenizer) -> None:
    """Write a model. Matrices of the encoders are rounded to FP16, other tensors stay FP32."""
    folder.mkdir(parents=True, exist_ok=True)
    esm2_arrays = _encoder(model.esm2)
    esm2_arrays["rotary.inv_freq"] = inverse_frequencies(model.esm2.config.head_dim).numpy()
    esm2_arrays["embedding.weight"] = _array(model.esm2.embedding)
    dnabert_s_arrays = _encoder(model.dnabert_s)
    dnabert_s_arrays["embedding.weight"] = _array(model.dnabert_s.table().half())
    write_safetensors(folder / FILES["esm2"], esm2_arrays)
    write_safetensors(folder / FILES["dnabert_s"], dnabert_s_arrays)
    head = {name: _array(model.head.state_dict()[name]) for name in HEAD_TENSORS}
    write_safetensors(folder / FILES["head"], head)
    text = tokenizer.to_str() + "\n"
    (folder / FILES["tokenizer"]).write_text(text, encoding="utf-8", newline="\n")
    files = {
        role: ModelFile(name, (folder / name).stat().st_size, sha256_of_file(folder / name))
        for role, name in FILES.items()
    }
    description = ModelDescription(
        name="teaching",
        title="Teaching model",
        notice="teaching model, not for research",
        chunk_length=CHUNK_LENGTH,
        files=files,
        esm2=model.esm2.config,
        dnabert_s=model.dnabert_s.config,
        norm_bands=None,
    )
    write_model_json(folder, description)


def _encoder(encoder: nn.Module) -> dict[str, npt.NDArray[np.generic]]:
    """The tensors of an encoder's layers and norms; its other trained tensors are not needed any more."""
    return {
        name: _array(tensor.half() if tensor.dim() == 2 else tensor)
        for name, tensor in encoder.state_dict().items()
        if name.startswith(("layers.", "final_norm.", "embedding_norm."))
    }


def _array(tensor: Tensor) -> npt.NDArray[np.generic]:
    array: npt.NDArray[np.generic] = tensor.detach().contiguous().numpy()
    return array
