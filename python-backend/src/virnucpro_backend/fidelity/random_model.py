"""`python -m virnucpro_backend.fidelity.random_model FOLDER`: write random weights of published shapes.

They serve to measure speed, and agreement between precisions, when the published weights are not available.
The numbers are made on the device, tensor by tensor, each from its own seed, and are exact in FP16 where the
published ones are, so every precision sees the same weights. Another kind of device makes other numbers.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.dnabert_s import DNABERT_S, DnabertS, DnabertSConfig
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2, Esm2Config
from virnucpro_backend.encoders.float32 import inverse_frequencies
from virnucpro_backend.encoders.head import HEAD_TENSORS
from virnucpro_backend.safetensors_file import sha256_of_file, write_safetensors
from virnucpro_backend.weights.formats.names import State
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, write_model_json

RANDOM_MODEL = "random"
"""The name in model.json."""
TITLE = "Random weights"
NOTICE = "random weights, no biological meaning"
HIDDEN = 512
"""Width of the published classifier's hidden layer."""

BIAS_SCALE = 0.02
SEEDS_PER_ENCODER = 1_000_000


@dataclass(frozen=True)
class RandomWeights:
    """Random weights for encoders of these sizes; the same seed and kind of device give the same numbers."""

    device: torch.device
    seed: int = 1
    esm2_config: Esm2Config = ESM2_3B
    dnabert_s_config: DnabertSConfig = DNABERT_S

    def esm2(self) -> State:
        """ESM-2's tensors by the names in its state dict."""
        with torch.device("meta"):
            state = self._tensors(Esm2(self.esm2_config, torch.float16), self.seed * SEEDS_PER_ENCODER)
        return state | {"rotary.inv_freq": partial(inverse_frequencies, self.esm2_config.head_dim)}

    def dnabert_s(self) -> State:
        """DNABERT-S's tensors by the names in its state dict."""
        with torch.device("meta"):
            stored = DnabertS(self.dnabert_s_config, torch.float16)
        return self._tensors(stored, self.seed * SEEDS_PER_ENCODER + SEEDS_PER_ENCODER // 2)

    def head(self) -> dict[str, Tensor]:
        """Make a classifier's HEAD_TENSORS on the CPU, with scores that vary about one half."""
        inputs = self.esm2_config.width + self.dnabert_s_config.width
        random = np.random.RandomState(self.seed)

        def normal(*shape: int) -> Tensor:
            values = random.standard_normal(shape).astype(np.float32)
            made: Tensor = torch.from_numpy(values) * shape[1] ** -0.5
            return made

        zeros, ones = torch.zeros(HIDDEN), torch.ones(HIDDEN)
        hidden = normal(HIDDEN, inputs), zeros, ones, zeros, zeros, ones
        return dict(zip(HEAD_TENSORS, (*hidden, normal(2, HIDDEN), torch.zeros(2)), strict=True))

    def _tensors(self, stored: nn.Module, first_seed: int) -> dict[str, Callable[[], Tensor]]:
        """`stored`: the encoder as its file holds it, on the meta device."""
        return {
            name: partial(self._tensor, name, like, first_seed + number)
            for number, (name, like) in enumerate(stored.state_dict().items())
        }

    def _tensor(self, name: str, like: Tensor, seed: int) -> Tensor:
        """Unit gain for matrices and unit variance for embeddings keep activations in a realistic range."""
        generator = torch.Generator(self.device).manual_seed(seed)
        values: Tensor = torch.empty(like.shape, device=self.device).normal_(generator=generator)
        if "norm" in name:
            values = values * BIAS_SCALE + (1 if name.endswith("weight") else 0)
        elif like.dim() == 1:
            values = values * BIAS_SCALE
        elif "embedding" not in name:
            values = values * like.shape[1] ** -0.5
        return values.to(like.dtype)


def write_random_model(folder: Path, weights: RandomWeights, tokenizer: Path, chunk_length: int) -> None:
    """Write a model folder that loads like a published one. Raises OSError when it can't be written."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for role, state in (
        ("esm2", weights.esm2()),
        ("dnabert_s", weights.dnabert_s()),
        ("head", weights.head()),
    ):
        name = f"{role}.safetensors"
        tensors = {key: made if isinstance(made, Tensor) else made() for key, made in state.items()}
        arrays = {key: tensor.contiguous().cpu().numpy() for key, tensor in tensors.items()}
        written = write_safetensors(folder / name, arrays)
        files[role] = ModelFile(name, written.size, written.sha256)
    copied = Path(shutil.copyfile(tokenizer, folder / "tokenizer.json"))
    files["tokenizer"] = ModelFile(copied.name, copied.stat().st_size, sha256_of_file(copied))
    sizes = weights.esm2_config, weights.dnabert_s_config
    write_model_json(folder, ModelDescription(RANDOM_MODEL, TITLE, NOTICE, chunk_length, files, *sizes, None))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the folder; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m virnucpro_backend.fidelity.random_model", description=__doc__
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json with 4,096 tokens")
    parser.add_argument("--chunk-length", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    weights = RandomWeights(device, arguments.seed)
    write_random_model(arguments.folder, weights, arguments.tokenizer, arguments.chunk_length)
    print(f"{arguments.folder}: {NOTICE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
