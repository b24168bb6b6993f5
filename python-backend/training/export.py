"""Writes a trained model as a model folder, in the formats to which the backend converts weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tokenizers
from torch import Tensor

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.encoders.float32 import inverse_frequencies
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

_HEAD = {
    "hidden_layer.weight": "hidden_layer.weight",
    "hidden_layer.bias": "hidden_layer.bias",
    "bn1.weight": "weight",
    "bn1.bias": "bias",
    "bn1.running_mean": "running_mean",
    "bn1.running_var": "running_var",
    "output_layer.weight": "output_layer.weight",
    "output_layer.bias": "output_layer.bias",
}
"""The classifier's tensors by their names in `Models`."""


def write_model_folder(
    folder: Path,
    state: Mapping[str, Tensor],
    member: int,
    esm2: Esm2Config,
    dnabert_s: DnabertSConfig,
    tokenizer: tokenizers.Tokenizer,
) -> None:
    """Write one member of a `Models` state dict. Matrices are rounded to FP16, other tensors stay FP32."""
    folder.mkdir(parents=True, exist_ok=True)
    esm2_arrays = _encoder(state, "esm2.", member)
    esm2_arrays["rotary.inv_freq"] = inverse_frequencies(esm2.head_dim).numpy()
    esm2_arrays["embedding.weight"] = _array(state["esm2.embedding"][member])
    dnabert_s_arrays = _encoder(state, "dnabert_s.", member)
    table = state["dnabert_s.embedding"][member].float()
    parts = state.get("dnabert_s.parts")
    if parts is not None:
        table = table + state["dnabert_s.part_embedding"][member].float()[parts].sum(1)
    dnabert_s_arrays["embedding.weight"] = _array(table.half())
    write_safetensors(folder / FILES["esm2"], esm2_arrays)
    write_safetensors(folder / FILES["dnabert_s"], dnabert_s_arrays)
    head = {ours: _array(state[f"head.{theirs}"][member].float()) for ours, theirs in _HEAD.items()}
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
        esm2=esm2,
        dnabert_s=dnabert_s,
        norm_bands=None,
    )
    write_model_json(folder, description)


def _encoder(state: Mapping[str, Tensor], prefix: str, member: int) -> dict[str, npt.NDArray[np.generic]]:
    """The tensors of an encoder's layers and norms; its other trained tensors are not needed any more."""
    arrays = {}
    for name, stacked in state.items():
        short = name.removeprefix(prefix)
        if name.startswith(prefix) and short.startswith(("layers.", "final_norm.", "embedding_norm.")):
            tensor = stacked[member].float()
            arrays[short] = _array(tensor.half() if tensor.dim() == 2 else tensor)
    return arrays


def _array(tensor: Tensor) -> npt.NDArray[np.generic]:
    array: npt.NDArray[np.generic] = tensor.contiguous().numpy()
    return array
