"""Converts published weights to safetensors once, so that no pickle is read when a run starts.

The converted file holds an encoder's state dict. The conversion is exact: a matrix is stored in FP16 if that
preserves every number (ESM-2's were published in FP16, even in Hugging Face's FP32 file), and otherwise in
FP32 (DNABERT-S). Embedding tables, LayerNorm parameters and rotary frequencies are FP32.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.head import Head
from virnucpro_backend.safetensors_file import WrittenFile, write_safetensors
from virnucpro_backend.weights.errors import unreadable
from virnucpro_backend.weights.formats.checkpoints import Checkpoint
from virnucpro_backend.weights.formats.names import (
    State,
    dnabert_s_config,
    dnabert_s_state,
    esm2_config,
    esm2_state,
    head_state,
    read_head,
    read_tensor,
)


def find_encoder(role: str, checkpoint: Checkpoint) -> tuple[Esm2Config | DnabertSConfig, nn.Module, State]:
    """Return the sizes of an encoder, the encoder without numbers, and the tensors in a file for it.

    Raises WeightsError (`model_damaged`), ValueError and RuntimeError for impossible sizes.
    """
    if role == "esm2":
        esm2 = esm2_config(checkpoint)
        with torch.device("meta"):
            return esm2, Esm2(esm2, torch.float16), esm2_state(checkpoint, esm2)
    dnabert_s = dnabert_s_config(checkpoint)
    with torch.device("meta"):
        return dnabert_s, DnabertS(dnabert_s, torch.float16), dnabert_s_state(checkpoint, dnabert_s)


def check_layout(role: str, checkpoint: Checkpoint) -> Esm2Config | DnabertSConfig:
    """Check that all tensors of an encoder exist with the right shapes, without reading their numbers, and
    return its sizes.

    Raises WeightsError (`model_damaged`).
    """
    shapes = {name: tensor.to("meta") for name, tensor in checkpoint.tensors.items()}
    try:
        config, model, state = find_encoder(role, dataclasses.replace(checkpoint, tensors=shapes))
    except (ValueError, RuntimeError) as error:
        raise unreadable(checkpoint.name, str(error)) from error
    for key, expected in model.state_dict().items():
        if key != "rotary.inv_freq":
            read_tensor(state, key, expected, checkpoint.name)
    return config


def convert_encoder(
    role: str, checkpoint: Checkpoint, target: Path
) -> tuple[Esm2Config | DnabertSConfig, WrittenFile]:
    """Write an encoder to `target`. Raises WeightsError, and OSError if it cannot be written."""
    config, model, state = find_encoder(role, checkpoint)
    arrays = {}
    for key, expected in model.state_dict().items():
        tensor = read_tensor(state, key, expected, checkpoint.name)
        arrays[key] = _array(_smallest_exact(tensor) if expected.dtype == torch.float16 else tensor.float())
    return config, write_safetensors(target, arrays)


def convert_head(source: Checkpoint, target: Path) -> tuple[Head, WrittenFile]:
    """Write a classifier to `target`. Raises the errors of `convert_encoder`."""
    head, state = read_head(source), head_state(source)
    return head, write_safetensors(target, {name: _array(tensor.float()) for name, tensor in state.items()})


def _smallest_exact(tensor: Tensor) -> Tensor:
    if tensor.dtype == torch.float16:
        return tensor
    half = tensor.half()
    return half if torch.equal(half.float(), tensor.float()) else tensor.float()


def _array(tensor: Tensor) -> npt.NDArray[np.generic]:
    array: npt.NDArray[np.generic] = tensor.contiguous().numpy()
    return array
