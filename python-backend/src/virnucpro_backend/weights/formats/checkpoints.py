"""Opens any file of weights as a mapping from names to tensors; recognises it by content, not name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
from torch import Tensor

from virnucpro_backend.weights.errors import missing, unreadable
from virnucpro_backend.weights.formats.pickles import LARGEST_PICKLE, Inert, is_pickled, read_pickled
from virnucpro_backend.weights.model_files import read_small_json


@dataclass(frozen=True)
class Checkpoint:
    """`tensors`: memory-mapped, by name; `options`: plain values from the file or its `config.json`."""

    name: str
    tensors: Mapping[str, Tensor]
    options: Mapping[str, Any]


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a safetensors file or a `torch.save` file.

    A `config.json` in the same folder is read too. Only names are read until a tensor is used.
    Raises WeightsError (`model_missing`, `model_damaged`).
    """
    if not path.is_file():
        raise missing(path)
    options = read_json(path.with_name("config.json")) if path.with_name("config.json").is_file() else {}
    tensors: Mapping[str, Tensor]
    if is_pickled(path):
        content = read_pickled(path)
        for _ in range(_MOST_WRAPPINGS):
            inside = _wrapped(content)
            if inside is None:
                break
            options = {**options, **plain_options(content.get("cfg"))}
            content = inside
        if isinstance(content, Inert):
            content = module_tensors(content)
        elif not isinstance(content, dict):
            raise unreadable(path.name, "there are no named weights in it")
        tensors = {name: value.detach() for name, value in content.items() if isinstance(value, Tensor)}
    else:
        tensors = _Safetensors(path)
    return Checkpoint(path.name, tensors, options)


_WRAPPINGS = ("model", "state_dict", "model_state_dict")
"""The keys under which fair-esm and training checkpoints store a state dict or a module."""
_MOST_WRAPPINGS = 3


def _wrapped(content: Any) -> Any:
    """Return the content of a wrapping dict; None if this is not one."""
    if not isinstance(content, dict):
        return None
    inside = (content.get(name) for name in _WRAPPINGS)
    return next((value for value in inside if isinstance(value, (dict, Inert))), None)


def module_tensors(module: Inert, prefix: str = "") -> dict[str, Tensor]:
    """Collect parameters and buffers of a pickled `torch.nn.Module` by their state dict names."""
    state = module.state if isinstance(module.state, dict) else {}
    tensors: dict[str, Tensor] = {}
    for kind in ("_parameters", "_buffers"):
        for name, tensor in (state.get(kind) or {}).items():
            if isinstance(tensor, Tensor):
                tensors[f"{prefix}{name}"] = tensor
    for name, child in (state.get("_modules") or {}).items():
        if isinstance(child, Inert):
            tensors.update(module_tensors(child, f"{prefix}{name}."))
    return tensors


def plain_options(config: Any) -> dict[str, Any]:
    """Read a fair-esm file's options, `cfg["model"]`: an argparse namespace, omegaconf node or dict."""
    model = _fields(config).get("model", config)
    options = {}
    for name, value in _fields(model).items():
        if isinstance(value, Inert):
            value = _fields(value).get("_val")
        if isinstance(value, (bool, int, float, str)):
            options[name] = value
    return options


def _fields(value: Any) -> dict[str, Any]:
    state = value.state if isinstance(value, Inert) else value
    if not isinstance(state, dict):
        return {}
    content = state.get("_content")
    return content if isinstance(content, dict) else state


class _Safetensors(Mapping[str, Tensor]):
    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if LARGEST_PICKLE < int.from_bytes(file.read(8), "little") <= path.stat().st_size:
                raise unreadable(path.name, "what it says about its tensors is too large")
        try:
            self._file = safetensors.safe_open(path, framework="pt", device="cpu")
            self._names = frozenset(self._file.keys())  # type: ignore[no-untyped-call]
        except (safetensors.SafetensorError, OSError) as error:
            raise unreadable(
                path.name, f"it is neither safetensors nor a file of torch.save ({error})"
            ) from error

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._names:
            raise KeyError(name)
        tensor: Tensor = self._file.get_tensor(name)  # type: ignore[no-untyped-call]
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object of an untrusted source. Raises WeightsError."""
    try:
        content = read_small_json(path)
    except (OSError, ValueError) as error:
        raise unreadable(path.name, "it is not JSON") from error
    if not isinstance(content, dict):
        raise unreadable(path.name, "it is not a JSON object")
    return content
