"""ESM-2 3B in other libraries, to be timed in the same run on the same GPU as our own.

Both libraries are optional; a row reports if its library is missing.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.encoders.models import randomize
from benchmarks.encoders.timing import Step
from benchmarks.encoders.workloads import ESM2_SPECIAL_TOKENS, FIRST_LETTER, LETTERS, Lengths, letters_of
from virnucpro_backend.encoders.esm2 import ESM2_3B, Esm2Config

ORIGINAL_TOKENS_PER_BATCH = 2048
"""The original tool's setting for fair-esm."""

FAIR_ESM_STEPS = 16
"""How many batches are timed, spread evenly over the workload, of which all would take almost a minute."""


class RowUnavailableError(Exception):
    """A row can't be timed here; the text says why."""


def random_hugging_face_esm2(device: torch.device, config: Esm2Config = ESM2_3B) -> Any:
    """Make transformers' model in its fastest form: BF16 and PyTorch's scaled dot-product attention."""
    transformers = _library("transformers", "transformers")
    with torch.device(device):
        model = transformers.EsmModel(
            transformers.EsmConfig(
                vocab_size=33,
                mask_token_id=32,
                pad_token_id=1,
                hidden_size=config.width,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                intermediate_size=config.feed_forward,
                position_embedding_type="rotary",
                token_dropout=True,
                attn_implementation="sdpa",
            ),
            add_pooling_layer=False,
        )
    randomize(model)
    return model.to(torch.bfloat16).eval()


def hugging_face_steps(
    model: Any, lengths: Lengths, tokens_per_batch: int, device: torch.device
) -> list[Step]:
    """Make padded batches sorted by length, pooled on the device. lengths: int64 [n], in tokens."""

    @torch.inference_mode()
    def embed(tokens: Tensor, kept: Tensor) -> Tensor:
        hidden = model(input_ids=tokens, attention_mask=kept).last_hidden_state
        residues = kept[:, 2:, None]  # all but the first and the last token of the longest
        means: Tensor = (hidden[:, 1:-1] * residues).sum(1) / residues.sum(1)
        return means

    def step(part: Lengths) -> Step:
        kept = torch.from_numpy(np.arange(part.max()) < part[:, None]).to(device)
        tokens = torch.randint(FIRST_LETTER, FIRST_LETTER + LETTERS, kept.shape, device=device)
        return Step(lambda: embed(tokens, kept), int((part - ESM2_SPECIAL_TOKENS).sum()))

    lengths = np.sort(lengths)[::-1]
    per_batch = max(1, tokens_per_batch // int(lengths.max()))
    return [step(part) for part in np.array_split(lengths, -(-len(lengths) // per_batch))]


def random_fair_esm2(device: torch.device, config: Esm2Config = ESM2_3B) -> Any:
    """Make fair-esm's model in FP32, as the original tool runs it."""
    esm = _library("esm", "fair-esm")
    if not hasattr(esm, "ESM2"):
        raise RowUnavailableError("the package `esm` that is installed is not fair-esm")
    with torch.device(device):
        model = esm.ESM2(config.layers, config.width, config.heads, "ESM-1b", token_dropout=True)
    randomize(model)
    return model.eval()


def fair_esm_steps(model: Any, lengths: Lengths, device: torch.device) -> list[Step]:
    """Make fair-esm's own batches; the output of layer 36 goes to the host, which averages residues.

    lengths: int64 [n], in tokens. A step returns the means, FP32 [sequences of the batch, width].
    """
    esm = _library("esm", "fair-esm")
    proteins = letters_of(lengths - ESM2_SPECIAL_TOKENS)
    named = esm.FastaBatchedDataset([str(i) for i in range(len(proteins))], proteins)
    converter = model.alphabet.get_batch_converter()
    batches = named.get_batch_indices(ORIGINAL_TOKENS_PER_BATCH, extra_toks_per_seq=1)

    def step(members: list[int]) -> Step:
        _, _, tokens = converter([named[i] for i in members])
        sizes = [len(proteins[i]) for i in members]

        @torch.no_grad()
        def launch() -> Tensor:
            out = model(tokens.to(device), repr_layers=[model.num_layers], return_contacts=False)
            hidden = out["representations"][model.num_layers].to("cpu")
            return torch.stack([hidden[i, 1 : size + 1].mean(0) for i, size in enumerate(sizes)])

        return Step(launch, sum(sizes))

    return [step(members) for members in batches[:: -(-len(batches) // FAIR_ESM_STEPS)]]


def _library(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RowUnavailableError(f"the Python package {package} is not installed ({error})") from error
