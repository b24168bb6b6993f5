"""What a GPU does once per process, done before the first shard: compiling and loading kernels."""

from __future__ import annotations

import torch

from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.kernels.attention_work import BLOCK, MOST_BLOCKS
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.inference.failures import LoadFailedError
from virnucpro_backend.weights.model_folder import LoadedModel

SOME_TOKEN = 5
"""An ordinary token in both vocabularies."""


def warm_up(model: LoadedModel) -> None:
    """Run both encoders on a GPU over sequences of every size for which there is a kernel of its own.

    Raises LoadFailedError `precision_unsupported` where this PyTorch lacks FP8 products for this GPU.
    """
    if model.device.type != "cuda":
        return
    try:
        for encoder in (model.esm2, model.dnabert_s):
            _run(encoder, model.device)
        torch.cuda.synchronize(model.device)
    except (RuntimeError, NotImplementedError) as error:
        if model.precision != "fp8" or isinstance(error, torch.OutOfMemoryError):
            raise
        raise LoadFailedError(
            "precision_unsupported",
            f"FP8 does not work on this GPU with this PyTorch: {error}",
            "Choose BF16 or FP16.",
        ) from error


def _run(encoder: Esm2 | DnabertS, device: torch.device) -> None:
    blocks = range(1, MOST_BLOCKS + 2) if encoder.attention.packs else (1,)
    layout = SequenceLayout.from_lengths([count * BLOCK for count in blocks], device)
    tokens = torch.full((layout.n_tokens,), SOME_TOKEN, dtype=torch.int32, device=device)
    encoder.embed(tokens, layout)
