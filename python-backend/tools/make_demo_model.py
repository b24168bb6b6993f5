"""Makes tests/data/demo-model: tiny encoders and a classifier in the formats of the published files.

The architecture is the published one but smaller, and the weights are seeded noise; the classifier is fitted
to distinguish AT-rich from GC-rich sequence. It has no biological meaning. Run it as
`npm run python -- tools.make_demo_model [FOLDER]`. The same PyTorch gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
from torch import Tensor, nn

from tools.make_sample import AMINO_ACIDS, CODONS, open_frame
from virnucpro_backend.encoders.dnabert_s import DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.tokens import DnaTokenizer, TokenSequences, esm2_tokens
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint
from virnucpro_backend.weights.formats.names import dnabert_s_state, esm2_state
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_folder import fill
from virnucpro_backend.weights.model_json import ModelDescription, write_model_json

SEED = 500
ESM2 = Esm2Config(layers=2, width=64, heads=4, feed_forward=256)
DNABERT_S = DnabertSConfig(layers=2, width=64, heads=4, feed_forward=256, vocabulary=4096)
HIDDEN = 32
CALIBRATION_FRAMES = 120
GRID = 64
"""Values measured on the tiny encoders are rounded to 1/64, so that another CPU's last bits don't matter."""

FILES = {
    "esm2": "esm2_demo.pt",
    "dnabert_s": "dnabert_s/pytorch_model.bin",
    "tokenizer": "dnabert_s/tokenizer.json",
    "head": "500_model.pth",
}


class MLPClassifier(nn.Module):
    """A classifier with the published one's fields, but another size."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden_layer = nn.Linear(inputs, hidden)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.relu = nn.ReLU()
        self.output_layer = nn.Linear(hidden, 2)


MLPClassifier.__module__ = "__main__"


class Noise:
    """Seeded weights, from a generator whose numbers never change between versions."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.from_numpy((mean + scale * self._random.standard_normal(shape)).astype(np.float32))

    def linear(self, name: str, outputs: int, inputs: int, bias: bool = True) -> dict[str, Tensor]:
        tensors = {f"{name}.weight": self.normal(outputs, inputs, scale=inputs**-0.5)}
        return tensors | ({f"{name}.bias": self.normal(outputs, scale=0.1)} if bias else {})

    def norm(self, name: str, width: int) -> dict[str, Tensor]:
        return {
            f"{name}.weight": self.normal(width, mean=1.0, scale=0.1),
            f"{name}.bias": self.normal(width, scale=0.1),
        }


def make_esm2(path: Path) -> None:
    """Write fair-esm's layout: FP16, options in an argparse namespace, long prefixes before the names."""
    noise, width = Noise(SEED), ESM2.width
    state = {"embed_tokens.weight": noise.normal(33, width)}
    inv_freq = 1.0 / (10000 ** (torch.arange(0, ESM2.head_dim, 2).float() / ESM2.head_dim))
    for layer in range(ESM2.layers):
        base = f"layers.{layer}."
        for name in ("k_proj", "v_proj", "q_proj", "out_proj"):
            state |= noise.linear(f"{base}self_attn.{name}", width, width)
        state[f"{base}self_attn.rot_emb.inv_freq"] = inv_freq
        state |= noise.norm(f"{base}self_attn_layer_norm", width)
        state |= noise.linear(f"{base}fc1", ESM2.feed_forward, width)
        state |= noise.linear(f"{base}fc2", width, ESM2.feed_forward)
        state |= noise.norm(f"{base}final_layer_norm", width)
    state |= noise.norm("emb_layer_norm_after", width)
    model = {f"encoder.sentence_encoder.{name}": tensor.half() for name, tensor in state.items()}
    model |= {f"encoder.lm_head.{name}": t.half() for name, t in noise.linear("dense", width, width).items()}
    options = argparse.Namespace(
        arch="esm2_demo",
        encoder_layers=ESM2.layers,
        encoder_embed_dim=width,
        encoder_attention_heads=ESM2.heads,
        token_dropout=True,
    )
    _save({"cfg": {"_name": None, "model": options}, "model": model}, path)


def make_dnabert_s(folder: Path) -> None:
    """Write Hugging Face's layout: FP32 `pytorch_model.bin` without prefix, config.json, tokenizer.json."""
    noise, width = Noise(SEED + 1), DNABERT_S.width
    state = {
        "embeddings.word_embeddings.weight": noise.normal(DNABERT_S.vocabulary, width),
        "embeddings.token_type_embeddings.weight": noise.normal(2, width, scale=0.1),
    }
    state |= noise.norm("embeddings.LayerNorm", width)
    for layer in range(DNABERT_S.layers):
        base = f"encoder.layer.{layer}."
        state |= noise.linear(f"{base}attention.self.Wqkv", 3 * width, width)
        state |= noise.linear(f"{base}attention.output.dense", width, width)
        state |= noise.norm(f"{base}attention.output.LayerNorm", width)
        state |= noise.linear(f"{base}mlp.gated_layers", 2 * DNABERT_S.feed_forward, width, bias=False)
        state |= noise.linear(f"{base}mlp.wo", width, DNABERT_S.feed_forward)
        state |= noise.norm(f"{base}mlp.layernorm", width)
    state |= noise.linear("pooler.dense", width, width)
    folder.mkdir(exist_ok=True)
    _save(state, folder / "pytorch_model.bin")
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "num_hidden_layers": DNABERT_S.layers,
        "hidden_size": width,
        "num_attention_heads": DNABERT_S.heads,
        "intermediate_size": DNABERT_S.feed_forward,
        "vocab_size": DNABERT_S.vocabulary,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    }
    _write(folder / "config.json", json.dumps(config, indent=2) + "\n")
    _write(folder / "tokenizer.json", _trained_tokenizer().to_str(pretty=True) + "\n")


def _trained_tokenizer() -> tokenizers.Tokenizer:
    random = np.random.RandomState(SEED + 2)
    corpus = [open_frame(random, 160, gc) for gc in (0.36, 0.5, 0.64) for _ in range(400)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=DNABERT_S.vocabulary,
        special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def make_head(folder: Path) -> None:
    """Write a pickled `__main__.MLPClassifier`, fitted to seeded frames: GC-rich is "virus"."""
    noise = Noise(SEED + 3)
    head = MLPClassifier(DNABERT_S.width + ESM2.width, HIDDEN)
    values = noise.linear("hidden_layer", HIDDEN, DNABERT_S.width + ESM2.width)
    values["hidden_layer.bias"].zero_()
    others, virus = (_embeddings(folder, seed, gc) for seed, gc in ((SEED + 4, 0.36), (SEED + 5, 0.64)))

    before = torch.cat((others, virus)) @ values["hidden_layer.weight"].T
    values["bn1.weight"], values["bn1.bias"] = torch.ones(HIDDEN), torch.zeros(HIDDEN)
    values["bn1.running_mean"] = _on_grid(before.mean(dim=0))
    values["bn1.running_var"] = _on_grid(before.var(dim=0)).clamp(min=1 / GRID)
    values["bn1.num_batches_tracked"] = torch.tensor(1)
    spread = (values["bn1.running_var"] + head.bn1.eps).sqrt()
    after = ((before - values["bn1.running_mean"]) / spread).relu()
    # Use the direction between the classes' means; the bias puts the boundary half-way.
    mean_others, mean_virus = after[: len(others)].mean(dim=0), after[len(others) :].mean(dim=0)
    direction = _on_grid(0.5 * (mean_virus - mean_others))
    values["output_layer.weight"] = torch.stack((-direction, direction))
    middle = _on_grid(direction @ (mean_virus + mean_others) / 2)
    values["output_layer.bias"] = torch.stack((middle, -middle))
    head.load_state_dict(values)
    head.eval()

    main = sys.modules["__main__"]
    before_us = vars(main).get("MLPClassifier")
    main.MLPClassifier = MLPClassifier  # type: ignore[attr-defined]
    try:
        _save(head, folder / FILES["head"])
    finally:
        if before_us is None:
            del main.MLPClassifier


def _embeddings(folder: Path, seed: int, gc: float) -> Tensor:
    """Compute DNABERT-S and ESM-2 embeddings FP32 [frames, 128] of seeded frames of 166 codons."""
    random = np.random.RandomState(seed)
    translate = dict(zip(CODONS, AMINO_ACIDS, strict=True))
    frames = [open_frame(random, 166, gc) for _ in range(CALIBRATION_FRAMES)]
    proteins = ["".join(translate[frame[i : i + 3]] for i in range(0, len(frame), 3)) for frame in frames]
    with torch.device("meta"):
        esm2, dnabert_s = Esm2(ESM2), DnabertS(DNABERT_S)
    cpu = torch.device("cpu")
    fill(esm2, esm2_state(open_checkpoint(folder / FILES["esm2"]), ESM2), cpu, FILES["esm2"])
    dnabert_s_file = open_checkpoint(folder / FILES["dnabert_s"])
    fill(dnabert_s, dnabert_s_state(dnabert_s_file, DNABERT_S), cpu, FILES["dnabert_s"])
    dna = DnaTokenizer(folder / FILES["tokenizer"]).encode(*_joined(frames))
    return torch.cat((_embed_each(dnabert_s, dna), _embed_each(esm2, esm2_tokens(*_joined(proteins)))), dim=1)


def _joined(texts: list[str]) -> tuple[Any, Any]:
    letters = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    return letters, np.cumsum([0] + [len(text) for text in texts])


def _embed_each(encoder: Esm2 | DnabertS, sequences: TokenSequences) -> Tensor:
    rows = []
    for begin, end in zip(sequences.offsets[:-1], sequences.offsets[1:], strict=True):
        layout = SequenceLayout.from_lengths([int(end - begin)], "cpu")
        rows.append(encoder.embed(torch.from_numpy(sequences.tokens[begin:end]), layout))
    return torch.cat(rows)


def _on_grid(values: Tensor) -> Tensor:
    return (values * GRID).round() / GRID


def _save(content: object, path: Path) -> None:
    # PyTorch names the folder inside the file after the file, so the bytes depend on the file's name.
    torch.save(content, path)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def make_demo_model(folder: Path) -> None:
    """Write the model folder."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    make_esm2(folder / FILES["esm2"])
    make_dnabert_s(folder / "dnabert_s")
    make_head(folder)
    files = {
        role: ModelFile(name, (folder / name).stat().st_size, sha256_of_file(folder / name))
        for role, name in FILES.items()
    }
    description = ModelDescription(
        name="demo",
        title="Demo model",
        notice="demo model, no biological meaning",
        chunk_length=500,
        files=files,
        esm2=ESM2,
        dnabert_s=DNABERT_S,
        norm_bands=None,
    )
    write_model_json(folder, description)
    made_with = {"torch": torch.__version__.split("+")[0], "tokenizers": tokenizers.__version__}
    _write(folder / "made_with.json", json.dumps(made_with, indent=2) + "\n")


if __name__ == "__main__":
    default = Path(__file__).resolve().parents[1] / "tests" / "data" / "demo-model"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    make_demo_model(target)
    print(f"wrote {target}")
