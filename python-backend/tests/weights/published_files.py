"""Writes small weights in every published format."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import torch
from random_weights import MLPClassifier, dnabert_s_tensors, random_head
from random_weights import hugging_face_esm2 as random_esm2
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import EsmForMaskedLM

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo-model"
RESOURCES = DEMO.parents[3] / "resources"
ESM2 = Esm2Config(layers=2, width=48, heads=3, feed_forward=192)
DNABERT_S = DnabertSConfig(layers=2, width=24, heads=3, feed_forward=32, vocabulary=4096)


def hugging_face_esm2() -> EsmForMaskedLM:
    """Make random weights that are exact in FP16, like the published ones."""
    return random_esm2(ESM2, seed=1).half().float()


def write_hugging_face_safetensors(folder: Path, model: EsmForMaskedLM) -> Path:
    """Write FP32 with the rotary table of every layer, as in older files."""
    path = folder / "model.safetensors"
    tensors = {name: tensor.clone().contiguous() for name, tensor in model.state_dict().items()}
    for name in [name for name in tensors if name.endswith("inv_freq")]:
        table = tensors.pop(name)
        for layer in range(ESM2.layers):
            key = f"esm.encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq"
            tensors[key] = table.clone()
    save_file(tensors, path)
    model.config.save_pretrained(folder)
    return path


FAIR_ESM = {
    "esm.embeddings.word_embeddings": "sentence_encoder.embed_tokens",
    "esm.encoder.emb_layer_norm_after": "sentence_encoder.emb_layer_norm_after",
    "esm.encoder.layer.": "sentence_encoder.layers.",
    "attention.LayerNorm": "self_attn_layer_norm",
    "attention.self.query": "self_attn.q_proj",
    "attention.self.key": "self_attn.k_proj",
    "attention.self.value": "self_attn.v_proj",
    "attention.output.dense": "self_attn.out_proj",
    "LayerNorm": "final_layer_norm",
    "intermediate.dense": "fc1",
    "output.dense": "fc2",
}


def write_fair_esm(folder: Path, model: EsmForMaskedLM) -> Path:
    """Write an FP16 `.pt` with long prefixes, the rotary table of every layer, and an argparse namespace."""
    tensors = {}
    for name, tensor in model.state_dict().items():
        for theirs, fair in FAIR_ESM.items():
            name = name.replace(theirs, fair)
        if name.endswith("inv_freq"):
            for layer in range(ESM2.layers):
                key = f"encoder.sentence_encoder.layers.{layer}.self_attn.rot_emb.inv_freq"
                tensors[key] = tensor.half()
        elif name.startswith(("sentence_encoder", "lm_head")):
            tensors[f"encoder.{name}"] = tensor.half()
    options = argparse.Namespace(encoder_attention_heads=ESM2.heads, encoder_layers=ESM2.layers)
    path = folder / "esm2_t36_3B_UR50D.pt"
    torch.save({"cfg": {"model": options}, "model": tensors}, path)
    return path


def write_dnabert_s(folder: Path, *, prefix: str = "", safetensors: bool = False) -> Path:
    """Write DNABERT-S (no prefix) or DNABERT-2 (`bert.`, with a masked-LM head), and `config.json`."""
    tensors = {f"{prefix}{name}": tensor for name, tensor in dnabert_s_tensors(DNABERT_S, seed=2).items()}
    if prefix:
        tensors["cls.predictions.bias"] = torch.zeros(DNABERT_S.vocabulary)
    path = folder / ("model.safetensors" if safetensors else "pytorch_model.bin")
    if safetensors:
        save_file(tensors, path)
    else:
        torch.save(tensors, path)
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": DNABERT_S.heads}))
    return path


def write_head(
    path: Path, inputs: int = DNABERT_S.width + ESM2.width, *, wrapped: str = "module"
) -> dict[str, Tensor]:
    """Write a pickled `__main__.MLPClassifier`, or another form of it; return its state."""
    head = random_head(inputs)
    main = sys.modules["__main__"]
    MLPClassifier.__module__ = "__main__"
    main.MLPClassifier = MLPClassifier  # type: ignore[attr-defined]
    try:
        content = {
            "module": head,
            "state_dict": {"state_dict": head.state_dict(), "epoch": 3},
            "model_state_dict": {
                "model_state_dict": head.state_dict(),
                "optimizer_state_dict": {"state": {}},
            },
            "model": {"model": head},
            "parallel": nn.DataParallel(head),
            "inside": {"state_dict": {f"classifier.{n}": t for n, t in head.state_dict().items()}},
        }[wrapped]
        torch.save(content, path)
    finally:
        del main.MLPClassifier  # type: ignore[attr-defined]
    return head.state_dict()


def write_published(folder: Path) -> dict[str, Path]:
    """Write all files of a model as published; return them by role."""
    esm2, dnabert_s, head = folder / "ESM-2", folder / "DNABERT-S", folder / "500_model.pth"
    for inside in (esm2, dnabert_s):
        inside.mkdir(parents=True)
    write_head(head)
    return {
        "esm2": write_fair_esm(esm2, hugging_face_esm2()),
        "dnabert_s": write_dnabert_s(dnabert_s),
        "dnabert_s_config": dnabert_s / "config.json",
        "tokenizer": shutil.copy(DEMO / "dnabert_s" / "tokenizer.json", dnabert_s / "tokenizer.json"),
        "head": head,
    }
