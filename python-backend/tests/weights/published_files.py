"""Writes small weights in every published format."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import EsmConfig, EsmForMaskedLM

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo-model"
RESOURCES = DEMO.parents[3] / "resources"
ESM2 = Esm2Config(layers=2, width=48, heads=3, feed_forward=192)
DNABERT_S = DnabertSConfig(layers=2, width=24, heads=3, feed_forward=32, vocabulary=4096)


def hugging_face_esm2() -> EsmForMaskedLM:
    """Make random weights that are exact in FP16, like the published ones."""
    torch.manual_seed(1)
    model = EsmForMaskedLM(
        EsmConfig(
            vocab_size=33,
            mask_token_id=32,
            pad_token_id=1,
            hidden_size=ESM2.width,
            num_hidden_layers=ESM2.layers,
            num_attention_heads=ESM2.heads,
            intermediate_size=ESM2.feed_forward,
            position_embedding_type="rotary",
            token_dropout=True,
        )
    )
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            if tensor.is_floating_point():
                tensor.copy_((tensor + 0.1 * torch.randn_like(tensor)).half())
    return model


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


def write_fair_esm(folder: Path, model: EsmForMaskedLM) -> Path:
    """Write an FP16 `.pt` with long prefixes and an argparse namespace."""
    source = model.state_dict()
    inv_freq = next(tensor for name, tensor in source.items() if name.endswith("inv_freq"))
    theirs = {
        "self_attn_layer_norm": "attention.LayerNorm",
        "self_attn.q_proj": "attention.self.query",
        "self_attn.k_proj": "attention.self.key",
        "self_attn.v_proj": "attention.self.value",
        "self_attn.out_proj": "attention.output.dense",
        "final_layer_norm": "LayerNorm",
        "fc1": "intermediate.dense",
        "fc2": "output.dense",
    }
    tensors = {"embed_tokens.weight": source["esm.embeddings.word_embeddings.weight"]}
    for layer in range(ESM2.layers):
        tensors[f"layers.{layer}.self_attn.rot_emb.inv_freq"] = inv_freq
        for fair, hugging in theirs.items():
            for kind in ("weight", "bias"):
                tensors[f"layers.{layer}.{fair}.{kind}"] = source[
                    f"esm.encoder.layer.{layer}.{hugging}.{kind}"
                ]
    for kind in ("weight", "bias"):
        tensors[f"emb_layer_norm_after.{kind}"] = source[f"esm.encoder.emb_layer_norm_after.{kind}"]
    options = argparse.Namespace(encoder_attention_heads=ESM2.heads, encoder_layers=ESM2.layers)
    path = folder / "esm2_t36_3B_UR50D.pt"
    content = {f"encoder.sentence_encoder.{name}": tensor.half() for name, tensor in tensors.items()}
    content |= {f"encoder.{name}": t.half() for name, t in source.items() if name.startswith("lm_head")}
    torch.save({"cfg": {"model": options}, "model": content}, path)
    return path


def write_dnabert_s(folder: Path, *, prefix: str, safetensors: bool) -> Path:
    """Write DNABERT-S (no prefix) or DNABERT-2 (`bert.`, with a masked-LM head), and `config.json`."""
    generator = torch.Generator().manual_seed(2)
    width, inner = DNABERT_S.width, DNABERT_S.feed_forward
    shapes = {
        "embeddings.word_embeddings.weight": (DNABERT_S.vocabulary, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
        "pooler.dense.weight": (width, width),
    }
    for layer in range(DNABERT_S.layers):
        base = f"encoder.layer.{layer}."
        shapes |= {
            f"{base}attention.self.Wqkv.weight": (3 * width, width),
            f"{base}attention.self.Wqkv.bias": (3 * width,),
            f"{base}attention.output.dense.weight": (width, width),
            f"{base}attention.output.dense.bias": (width,),
            f"{base}attention.output.LayerNorm.weight": (width,),
            f"{base}attention.output.LayerNorm.bias": (width,),
            f"{base}mlp.gated_layers.weight": (2 * inner, width),
            f"{base}mlp.wo.weight": (width, inner),
            f"{base}mlp.wo.bias": (width,),
            f"{base}mlp.layernorm.weight": (width,),
            f"{base}mlp.layernorm.bias": (width,),
        }
    tensors = {f"{prefix}{n}": 0.3 * torch.randn(s, generator=generator) for n, s in shapes.items()}
    if prefix:
        tensors["cls.predictions.bias"] = torch.zeros(DNABERT_S.vocabulary)
    path = folder / ("model.safetensors" if safetensors else "pytorch_model.bin")
    if safetensors:
        save_file(tensors, path)
    else:
        torch.save(tensors, path)
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": DNABERT_S.heads}))
    return path


class MLPClassifier(nn.Module):
    """Has the fields of the published classifier; reading it must not need this code."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.hidden_layer = nn.Linear(inputs, 16)
        self.bn1 = nn.BatchNorm1d(16)
        self.relu = nn.ReLU()
        self.output_layer = nn.Linear(16, 2)


def write_head(
    path: Path,
    inputs: int = DNABERT_S.width + ESM2.width,
    *,
    wrapped: str = "module",
) -> dict[str, Tensor]:
    """Write a pickled `__main__.MLPClassifier`, or another form of it; return its state."""
    torch.manual_seed(3)
    head = MLPClassifier(inputs)
    head.bn1.running_mean.normal_()
    head.bn1.running_var.uniform_(0.5, 2)
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
