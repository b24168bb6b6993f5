"""Maps the tensor names of published files to those of our encoders.

Each function returns, for every tensor of the encoder's state dict, a function that makes it, so that a file
of 5.7 GB is read tensor by tensor, directly to where it is needed. All changes to the numbers are made here:
q, k and v are joined, and constant factors and terms are added to the embedding table, in FP32. Files that
this project converted hold the state dict itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import TOKEN_DROPOUT_SCALE, Esm2Config
from virnucpro_backend.encoders.float32 import inverse_frequencies
from virnucpro_backend.encoders.head import HEAD_TENSORS, Head
from virnucpro_backend.weights.errors import unreadable
from virnucpro_backend.weights.formats.checkpoints import Checkpoint

State = Mapping[str, Callable[[], Tensor]]

_OURS = "layers.0.qkv.weight"
_WRAPPED = "module."
"""The prefix that torch.nn.DataParallel adds to every name."""
_ESM2_PREFIXES = ("encoder.sentence_encoder.", "esm.", "encoder.")
_DNABERT_S_PREFIXES = ("bert.",)

_NORM = {"gamma": "weight", "beta": "bias"}

_ESM2_LAYER = {  # ours: (fair-esm, Hugging Face)
    "attention_norm": (("self_attn_layer_norm",), ("attention.LayerNorm",)),
    "qkv": (
        ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        ("attention.self.query", "attention.self.key", "attention.self.value"),
    ),
    "attention_output": (("self_attn.out_proj",), ("attention.output.dense",)),
    "feed_forward_norm": (("final_layer_norm",), ("LayerNorm",)),
    "fc1": (("fc1",), ("intermediate.dense",)),
    "fc2": (("fc2",), ("output.dense",)),
}

_DNABERT_S_LAYER = {
    "qkv.weight": "attention.self.Wqkv.weight",
    "qkv.bias": "attention.self.Wqkv.bias",
    "attention_output.weight": "attention.output.dense.weight",
    "attention_output.bias": "attention.output.dense.bias",
    "attention_norm.weight": "attention.output.LayerNorm.weight",
    "attention_norm.bias": "attention.output.LayerNorm.bias",
    "gated.weight": "mlp.gated_layers.weight",
    "output.weight": "mlp.wo.weight",
    "output.bias": "mlp.wo.bias",
    "feed_forward_norm.weight": "mlp.layernorm.weight",
    "feed_forward_norm.bias": "mlp.layernorm.bias",
}


def read_tensor(state: State, key: str, expected: Tensor, file: str) -> Tensor:
    """Read a tensor of a state for one of our encoders. Raises WeightsError if its shape differs."""
    tensor = state[key]()
    if tensor.shape != expected.shape:
        raise unreadable(file, f"{key} has the shape {tuple(tensor.shape)}, not {tuple(expected.shape)}")
    return tensor


def esm2_state(checkpoint: Checkpoint, config: Esm2Config) -> State:
    """Map ESM-2 from fair-esm's `.pt`, Hugging Face's EsmModel or EsmForMaskedLM, or our own file."""
    source = _Source(checkpoint, _ESM2_PREFIXES)
    if _OURS in source:
        return source
    hugging_face = "embeddings.word_embeddings.weight" in source
    embedding = "embeddings.word_embeddings.weight" if hugging_face else "embed_tokens.weight"
    state: dict[str, Callable[[], Tensor]] = {
        "embedding.weight": lambda: source[embedding]().float() * TOKEN_DROPOUT_SCALE,
        "rotary.inv_freq": partial(_inverse_frequencies, source, config.head_dim),
        "final_norm.weight": source["emb_layer_norm_after.weight"],
        "final_norm.bias": source["emb_layer_norm_after.bias"],
    }
    for layer in range(config.layers):
        base = f"layer.{layer}." if hugging_face else f"layers.{layer}."
        for ours, names in _ESM2_LAYER.items():
            for kind in ("weight", "bias"):
                parts = [f"{base}{name}.{kind}" for name in names[hugging_face]]
                state[f"layers.{layer}.{ours}.{kind}"] = partial(_joined, source, parts)
    return state


def esm2_config(checkpoint: Checkpoint) -> Esm2Config:
    """Find an ESM-2's sizes from its tensors; the heads come from the rotary table, else from the options."""
    source = _Source(checkpoint, _ESM2_PREFIXES)
    hugging_face = "embeddings.word_embeddings.weight" in source
    feed_forward, width = source[
        "layer.0.intermediate.dense.weight" if hugging_face else "layers.0.fc1.weight"
    ]().shape
    tables = _rotary_tables(source)
    if tables:
        heads = width // (2 * len(tables[0]))
    else:
        heads = _option(checkpoint, "encoder_attention_heads", "num_attention_heads")
    return Esm2Config(source.count_layers(), width, heads, feed_forward)


def dnabert_s_state(checkpoint: Checkpoint, config: DnabertSConfig) -> State:
    """Map DNABERT-S or DNABERT-2 from `pytorch_model.bin` or safetensors, or from our own file."""
    source = _Source(checkpoint, _DNABERT_S_PREFIXES)
    if _OURS in source:
        return source
    words, types = "embeddings.word_embeddings.weight", "embeddings.token_type_embeddings.weight"
    state: dict[str, Callable[[], Tensor]] = {
        "embedding.weight": lambda: source[words]().float() + source[types]()[0].float(),
        "embedding_norm.weight": source["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": source["embeddings.LayerNorm.bias"],
    }
    for layer in range(config.layers):
        for ours, theirs in _DNABERT_S_LAYER.items():
            state[f"layers.{layer}.{ours}"] = source[f"encoder.layer.{layer}.{theirs}"]
    return state


def dnabert_s_config(checkpoint: Checkpoint) -> DnabertSConfig:
    """Find a DNABERT-S's sizes from its tensors; the heads come from `config.json`."""
    source = _Source(checkpoint, _DNABERT_S_PREFIXES)
    ours = _OURS in source
    vocabulary = len(source["embedding.weight" if ours else "embeddings.word_embeddings.weight"]())
    width, feed_forward = source[
        "layers.0.output.weight" if ours else "encoder.layer.0.mlp.wo.weight"
    ]().shape
    heads = _option(checkpoint, "num_attention_heads")
    return DnabertSConfig(source.count_layers(), width, heads, feed_forward, vocabulary)


def head_state(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Read HEAD_TENSORS from a pickled `MLPClassifier`, a state dict, or our own file.

    If the classifier was part of another module, its tensors' names have that module's name as a prefix.
    """
    first = HEAD_TENSORS[0]
    names = [name.removeprefix(_WRAPPED) for name in checkpoint.tensors]
    prefixes = {name.removesuffix(first) for name in names if name.endswith(first)}
    if len(prefixes) > 1:
        raise unreadable(checkpoint.name, "there are several classifiers in it")
    source = _Source(checkpoint, tuple(prefixes))
    return {name: source[name]() for name in HEAD_TENSORS}


def read_head(checkpoint: Checkpoint) -> Head:
    """Read the classifier in a file. Raises WeightsError (`model_damaged`)."""
    try:
        return Head(head_state(checkpoint))
    except (ValueError, RuntimeError) as error:
        raise unreadable(checkpoint.name, str(error)) from error


class _Source(dict[str, Callable[[], Tensor]]):
    """The tensors of a checkpoint by name, without prefix; a missing tensor raises a WeightsError."""

    def __init__(self, checkpoint: Checkpoint, prefixes: tuple[str, ...]) -> None:
        super().__init__()
        self.name = checkpoint.name
        for name in checkpoint.tensors:
            short = name.removeprefix(_WRAPPED)
            for prefix in prefixes:
                short = short.removeprefix(prefix)
            # Some versions of transformers write TensorFlow's names for LayerNorm.
            short = re.sub(r"(LayerNorm\.)(gamma|beta)$", lambda found: found[1] + _NORM[found[2]], short)
            self[short] = partial(checkpoint.tensors.__getitem__, name)

    def __missing__(self, name: str) -> Callable[[], Tensor]:
        raise unreadable(self.name, f"the tensor {name} is missing")

    def count_layers(self) -> int:
        numbers = {found[1] for name in self if (found := re.search(r"\blayers?\.(\d+)\.", name))}
        # A single high layer number must not make us build layers that don't exist.
        if numbers != {str(number) for number in range(len(numbers))}:
            raise unreadable(self.name, "a layer is missing")
        return len(numbers)


def _joined(source: _Source, names: list[str]) -> Tensor:
    """Concatenate tensors: q, k and v as one matrix give the same products."""
    tensors = [source[name]() for name in names]
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors)


def _rotary_tables(source: _Source) -> list[Tensor]:
    return [source[name]() for name in sorted(source) if name.endswith("inv_freq")]


def _inverse_frequencies(source: _Source, head_dim: int) -> Tensor:
    """Return the stored numbers, which must be the same in every layer, else those of the formula."""
    tables = [table.float() for table in _rotary_tables(source)]
    if not tables:
        return inverse_frequencies(head_dim)
    if any(not torch.equal(table, tables[0]) for table in tables):
        raise unreadable(source.name, "its layers differ in their rotary frequencies")
    return tables[0]


def _option(checkpoint: Checkpoint, *names: str) -> int:
    for name in names:
        value = checkpoint.options.get(name)
        if isinstance(value, int):
            return value
    raise unreadable(
        checkpoint.name, "nothing says how many attention heads it has; its config.json is missing"
    )
