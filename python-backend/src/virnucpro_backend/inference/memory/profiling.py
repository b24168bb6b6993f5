"""Measures the memory that a token of a batch takes, with two real passes through each encoder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from virnucpro_backend import __version__
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.streamed_layers import SWEEP_BATCHES
from virnucpro_backend.inference.memory.memory_profile import MemoryProfile, Placement, profile_through, wider
from virnucpro_backend.inference.starting.warm_up import SOME_TOKEN
from virnucpro_backend.weights.model_folder import LoadedModel

FEW_TOKENS, MORE_TOKENS = 512, 2048
SEQUENCE_LENGTH = 256
"""Longer than a frame of a 500-bp chunk: an upper bound if attention's memory depends on length."""


def placement_of(model: LoadedModel) -> Placement:
    """Where ESM-2's layers are."""
    return "streamed" if model.esm2.streamed else "resident"


def software(model: LoadedModel) -> str:
    """Names the software that a measurement depends on; it is invalid with any other."""
    esm2, dnabert_s = model.esm2, model.dnabert_s
    names = (esm2.ops.name, esm2.attention.name, dnabert_s.ops.name, dnabert_s.attention.name)
    return f"version {__version__}, PyTorch {torch.__version__}, {'/'.join(names)}"


@torch.inference_mode()
def measure_profile(model: LoadedModel) -> MemoryProfile:
    """Measure a model on a GPU whose kernels are already loaded. Raises torch.OutOfMemoryError.

    Streamed layers are measured as they are used, with several batches at a time.
    """
    sweep = SWEEP_BATCHES if model.esm2.streamed else 1
    return wider(
        _profile(model, lambda batch: model.esm2.embed_all([batch] * sweep)),
        _profile(model, lambda batch: [model.dnabert_s.embed(*batch)]),
    )


def _profile(
    model: LoadedModel, embed: Callable[[tuple[Tensor, SequenceLayout]], list[Tensor]]
) -> MemoryProfile:
    few, more = (
        (tokens, _peak(model.device, partial(embed, _batch(tokens, model.device))))
        for tokens in (FEW_TOKENS, MORE_TOKENS)
    )
    return profile_through(few, more, placement_of(model), software(model))


def _batch(n_tokens: int, device: torch.device) -> tuple[Tensor, SequenceLayout]:
    layout = SequenceLayout.from_lengths([SEQUENCE_LENGTH] * (n_tokens // SEQUENCE_LENGTH), device)
    return torch.full((n_tokens,), SOME_TOKEN, dtype=torch.int32, device=device), layout


def _peak(device: torch.device, work: Callable[[], object]) -> int:
    """Peak bytes of tensors on the device during some work, including earlier tensors."""
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    torch.cuda.synchronize(device)
    return int(torch.cuda.max_memory_allocated(device))
