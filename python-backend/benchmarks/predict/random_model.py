"""`python -m benchmarks.predict.random_model FOLDER --seed N`: write a model of random weights of the
published shapes, to measure speed where the published ones are not at hand."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import TOKENIZER
from virnucpro_backend.check.device import randomise
from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2, Esm2Config
from virnucpro_backend.encoders.head import HEAD_TENSORS
from virnucpro_backend.safetensors_file import sha256_of_file, write_safetensors
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, write_model_json

HIDDEN = 512
"""Width of the published classifier's hidden layer."""


def write_random_model(
    folder: Path, seed: int, esm2: Esm2Config = ESM2_3B, dnabert_s: DnabertSConfig = DNABERT_S
) -> None:
    """Write a model folder. Matrices are exact in FP16, so every precision sees the same weights."""
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    folder.mkdir(parents=True, exist_ok=True)
    files = {}

    def write(role: str, tensors: dict[str, Tensor]) -> None:
        arrays = {name: tensor.cpu().contiguous().numpy() for name, tensor in tensors.items()}
        written = write_safetensors(folder / f"{role}.safetensors", arrays)
        files[role] = ModelFile(f"{role}.safetensors", written.size, written.sha256)

    with torch.no_grad(), device:
        for role, build in (
            ("esm2", lambda: Esm2(esm2, torch.float16)),
            ("dnabert_s", lambda: DnabertS(dnabert_s, torch.float16)),
        ):
            encoder = build()
            randomise(encoder, torch.Generator(device).manual_seed(seed))
            write(role, encoder.state_dict())
        inputs = esm2.width + dnabert_s.width
        zeros, ones = torch.zeros(HIDDEN), torch.ones(HIDDEN)
        hidden = torch.randn(HIDDEN, inputs) * inputs**-0.5, zeros, ones, zeros, zeros, ones
        output = torch.randn(2, HIDDEN) * HIDDEN**-0.5, torch.zeros(2)
        write("head", dict(zip(HEAD_TENSORS, (*hidden, *output), strict=True)))
    tokenizer = Path(shutil.copyfile(TOKENIZER, folder / "tokenizer.json"))
    files["tokenizer"] = ModelFile(tokenizer.name, tokenizer.stat().st_size, sha256_of_file(tokenizer))
    notice = "random weights, no biological meaning"
    write_model_json(
        folder, ModelDescription("random", "Random weights", notice, 500, files, esm2, dnabert_s, None)
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_random_model(arguments.folder, arguments.seed)
