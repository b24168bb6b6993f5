"""`python -m benchmarks.predict.random_model FOLDER`: write a model of random weights of the published
shapes, to measure speed where the published ones are not at hand."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from torch import Tensor

from virnucpro_backend.check.device import randomise
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2
from virnucpro_backend.encoders.head import HEAD_TENSORS
from virnucpro_backend.safetensors_file import sha256_of_file, write_safetensors
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, write_model_json

TESTS = Path(__file__).resolve().parents[2] / "tests"
TOKENIZER = TESTS / "data" / "demo-model" / "dnabert_s" / "tokenizer.json"
"""A tokenizer with the published vocabulary's size."""

HIDDEN = 512
"""Width of the published classifier's hidden layer."""


def write_random_model(folder: Path) -> None:
    """Write a model folder. Matrices are exact in FP16, so every precision sees the same weights."""
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    folder.mkdir(parents=True, exist_ok=True)
    files = {}

    def write(role: str, tensors: dict[str, Tensor]) -> None:
        arrays = {name: tensor.cpu().contiguous().numpy() for name, tensor in tensors.items()}
        written = write_safetensors(folder / f"{role}.safetensors", arrays)
        files[role] = ModelFile(f"{role}.safetensors", written.size, written.sha256)

    with torch.no_grad(), device:
        for role, build in (
            ("esm2", lambda: Esm2(ESM2_3B, torch.float16)),
            ("dnabert_s", lambda: DnabertS(DNABERT_S, torch.float16)),
        ):
            encoder = build()
            randomise(encoder, torch.Generator(device).manual_seed(1))
            write(role, encoder.state_dict())
        inputs = ESM2_3B.width + DNABERT_S.width
        zeros, ones = torch.zeros(HIDDEN), torch.ones(HIDDEN)
        hidden = torch.randn(HIDDEN, inputs) * inputs**-0.5, zeros, ones, zeros, zeros, ones
        output = torch.randn(2, HIDDEN) * HIDDEN**-0.5, torch.zeros(2)
        write("head", dict(zip(HEAD_TENSORS, (*hidden, *output), strict=True)))
    tokenizer = Path(shutil.copyfile(TOKENIZER, folder / "tokenizer.json"))
    files["tokenizer"] = ModelFile(tokenizer.name, tokenizer.stat().st_size, sha256_of_file(tokenizer))
    notice = "random weights, no biological meaning"
    write_model_json(
        folder, ModelDescription("random", "Random weights", notice, 500, files, ESM2_3B, DNABERT_S, None)
    )


if __name__ == "__main__":
    write_random_model(Path(sys.argv[1]))
