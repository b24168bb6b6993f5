"""Converts published weights to safetensors once, so that no pickle is read when a run starts.

The converted file holds an encoder's state dict. The conversion is exact: a matrix is stored in FP16 if that
preserves every number (ESM-2's were published in FP16, even in Hugging Face's FP32 file), and otherwise in
FP32 (DNABERT-S). Embedding tables, LayerNorm parameters and rotary frequencies are FP32.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.head import Head
from virnucpro_backend.safetensors_file import WrittenFile, write_safetensors
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

Role = Literal["esm2", "dnabert_s", "head"]


def convert_esm2(checkpoint: Checkpoint, target: Path) -> tuple[Esm2Config, WrittenFile]:
    """Write an ESM-2 to `target`. Raises WeightsError, and OSError if it cannot be written."""
    config = esm2_config(checkpoint)
    with torch.device("meta"):
        model = Esm2(config, torch.float16)
    return config, _write(model, esm2_state(checkpoint, config), target, checkpoint.name)


def convert_dnabert_s(checkpoint: Checkpoint, target: Path) -> tuple[DnabertSConfig, WrittenFile]:
    """Write a DNABERT-S to `target`. Raises the errors of `convert_esm2`."""
    config = dnabert_s_config(checkpoint)
    with torch.device("meta"):
        model = DnabertS(config, torch.float16)
    return config, _write(model, dnabert_s_state(checkpoint, config), target, checkpoint.name)


def convert_head(source: Checkpoint, target: Path) -> tuple[Head, WrittenFile]:
    """Write a classifier to `target`. Raises the errors of `convert_esm2`."""
    head, state = read_head(source), head_state(source)
    return head, write_safetensors(target, {name: _array(tensor.float()) for name, tensor in state.items()})


def _write(model: torch.nn.Module, state: State, target: Path, name: str) -> WrittenFile:
    arrays = {}
    for key, expected in model.state_dict().items():
        tensor = read_tensor(state, key, expected, name)
        arrays[key] = _array(_smallest_exact(tensor) if expected.dtype == torch.float16 else tensor.float())
    return write_safetensors(target, arrays)


def _smallest_exact(tensor: Tensor) -> Tensor:
    if tensor.dtype == torch.float16:
        return tensor
    half = tensor.half()
    return half if torch.equal(half.float(), tensor.float()) else tensor.float()


def _array(tensor: Tensor) -> npt.NDArray[np.generic]:
    array: npt.NDArray[np.generic] = tensor.contiguous().numpy()
    return array
