"""Loads the encoders, tokenizer and classifier of a model folder onto a device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders.blocks import LayerOfBlocks, Through
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Layer
from virnucpro_backend.encoders.head import Head
from virnucpro_backend.encoders.mapped_layers import MappedLayers
from virnucpro_backend.encoders.ops import choose_ops
from virnucpro_backend.encoders.precision import DTYPES, forbid_hidden_rounding
from virnucpro_backend.encoders.streamed_layers import StreamedLayers
from virnucpro_backend.encoders.tokens import DnaTokenizer
from virnucpro_backend.weights.errors import unreadable
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint
from virnucpro_backend.weights.formats.names import (
    State,
    dnabert_s_state,
    esm2_state,
    read_head,
    read_tensor,
)
from virnucpro_backend.weights.model_files import wrong_description
from virnucpro_backend.weights.model_json import ModelDescription, NormBand, read_model_json
from virnucpro_backend.weights.verified import verify_file

Encoder = TypeVar("Encoder", Esm2, DnabertS)


@dataclass(frozen=True)
class LoadedModel:
    """A model on its device. `norm_bands` (keys `esm2`, `dnabert_s`) is None if they are unknown.
    `second_head` judges the frames of shorter chunks, if the run has a classifier of their own for them."""

    name: str
    title: str
    notice: str | None
    chunk_length: int
    model_hash: str
    norm_bands: Mapping[str, NormBand] | None
    device: torch.device
    precision: Precision
    esm2: Esm2
    dnabert_s: DnabertS
    tokenizer: DnaTokenizer
    head: Head
    second_head: Head | None = None


def load_model(
    folder: Path,
    device: torch.device | str,
    precision: Precision,
    *,
    streamed: bool = False,
    mapped: bool = False,
    beside: AbstractContextManager[object] | None = None,
) -> LoadedModel:
    """Verify the files of a model folder and load the model onto a device. If `streamed`, ESM-2's layers stay
    in main memory and are copied to the device one after the other. If `mapped`, the layers of both encoders
    stay in their files, for a processor. `beside` is entered while the weights are copied, for which the
    interpreter is hardly needed.

    Tensors are copied one by one from the memory-mapped file to the device and cast there, without a second
    copy in memory. Raises WeightsError (`model_unknown`, `model_missing`, `model_damaged`,
    `model_damaged`).
    """
    model, where, dtype = read_model_json(folder), torch.device(device), DTYPES[precision]
    verify_model(folder, model)
    forbid_hidden_rounding()
    paths = {role: folder / file.path for role, file in model.files.items()}

    with torch.device("meta"):
        esm2, dnabert_s = Esm2(model.esm2, dtype), DnabertS(model.dnabert_s, dtype)
    esm2_file, dnabert_s_file = open_checkpoint(paths["esm2"]), open_checkpoint(paths["dnabert_s"])
    weights = esm2_state(esm2_file, model.esm2)
    dnabert_s_weights = dnabert_s_state(dnabert_s_file, model.dnabert_s)
    with beside or nullcontext():
        if streamed:
            stream_layers(esm2, weights, where, esm2_file.name, fp8=precision == "fp8")
        elif mapped:
            esm2.layers = map_layers(list(esm2.resident_layers), weights, esm2_file.name)
            layers = list(dnabert_s.resident_layers)
            dnabert_s.layers = map_layers(layers, dnabert_s_weights, dnabert_s_file.name)
        fill(esm2, weights, where, esm2_file.name)
        fill(dnabert_s, dnabert_s_weights, where, dnabert_s_file.name)
    if precision == "fp8" and not streamed:
        esm2.to_fp8()

    head = _head(paths["head"], model, where)
    try:
        tokenizer = DnaTokenizer(paths["tokenizer"])
    except Exception as error:  # the tokenizers library raises nothing more precise
        raise unreadable(paths["tokenizer"].name, str(error)) from error
    if tokenizer.vocabulary > model.dnabert_s.vocabulary:
        raise unreadable(paths["tokenizer"].name, "it has more tokens than the encoder")

    return LoadedModel(
        name=model.name,
        title=model.title,
        notice=model.notice,
        chunk_length=model.chunk_length,
        model_hash=model.model_hash,
        norm_bands=model.norm_bands,
        device=where,
        precision=precision,
        esm2=esm2,
        dnabert_s=dnabert_s,
        tokenizer=tokenizer,
        head=head,
    )


def with_second_head(loaded: LoadedModel, folder: Path, model_hash: str) -> LoadedModel:
    """Add the classifier of another model with the same encoders, which must have this hash.

    Raises WeightsError like `load_model`, `model_damaged` also for another model than this one.
    """
    model = read_model_json(folder)
    if model.model_hash != model_hash:
        raise wrong_description(folder / "model.json", "it is not the model that the run was created with")
    head = model.files["head"]
    verify_file(folder / head.path, head.size, head.sha256)
    return replace(loaded, second_head=_head(folder / head.path, model, loaded.device))


def _head(path: Path, model: ModelDescription, device: torch.device) -> Head:
    head = read_head(open_checkpoint(path)).to(device)
    if head.inputs != model.dnabert_s.width + model.esm2.width:
        raise unreadable(path.name, "it was made for encoders of other sizes")
    return head


def verify_model(folder: Path, model: ModelDescription, *, recompute: bool = False) -> None:
    """Check every file of a model against its SHA-256; see `verify_file`."""
    for file in model.files.values():
        verify_file(folder / file.path, file.size, file.sha256, recompute=recompute)


def fill(model: Encoder, state: State, device: torch.device, name: str) -> None:
    """Load the weights of a model built on PyTorch's meta device onto a device, and choose its kernels.

    Each tensor gets the dtype the model was built with. Raises WeightsError if one is missing or misshapen.
    """
    model.load_state_dict(_tensors(model, state, "", device, name), assign=True)
    model.to(device)
    model.use_kernels_for(device)
    nn.Module.eval(model)


def stream_layers(model: Esm2, state: State, device: torch.device, name: str, *, fp8: bool) -> None:
    """Turn an ESM-2's layers on the meta device into StreamedLayers. Raises their errors and `fill`'s.

    Each layer is made on the device, as if it stayed there, before it is copied to main memory.
    """
    templates, ops = list(model.resident_layers), choose_ops(device, model.dtype)

    def build(number: int) -> Esm2Layer:
        layer = copy.deepcopy(templates[number])
        layer.load_state_dict(_tensors(layer, state, f"layers.{number}.", device, name), assign=True)
        if fp8:
            layer.to_fp8(ops)
        return layer.requires_grad_(False).eval()

    model.layers = StreamedLayers(build, len(templates), device)


def map_layers(templates: Sequence[LayerOfBlocks[Through]], state: State, name: str) -> MappedLayers[Through]:
    """Turn layers on the meta device into MappedLayers. Raises WeightsError for a missing or wrong tensor."""
    weights: list[Mapping[str, Callable[[], Tensor]]] = []
    for number, layer in enumerate(templates):
        tensors = {}
        for key, expected in layer.state_dict().items():
            stored = f"layers.{number}.{key}"
            read_tensor(state, stored, expected, name)
            tensors[key] = state[stored]
        weights.append(tensors)
    return MappedLayers(templates[0].requires_grad_(False).eval(), weights)


def _tensors(
    module: nn.Module, state: State, prefix: str, device: torch.device, name: str
) -> dict[str, Tensor]:
    """Copy a module's tensors, whose names in `state` begin with a prefix, to the device."""
    tensors: dict[str, Tensor] = {}
    for key, expected in module.state_dict().items():
        tensor = read_tensor(state, prefix + key, expected, name)
        tensors[key] = _moved(tensor, device, expected.dtype)
    return tensors


def _moved(tensor: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Copy to the device and cast there; never a view of the file, which may change."""
    if device.type == "cpu":
        return tensor.to(dtype, copy=True)
    return tensor.to(device).to(dtype)
