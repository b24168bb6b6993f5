"""Compiles and loads a GPU's kernels before the first part, which is needed once per process."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch

from virnucpro_backend.devices.opening import lacks_precision
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.kernels.attention_work import BLOCK, MOST_BLOCKS
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.ops import Ops
from virnucpro_backend.encoders.precision import DTYPES
from virnucpro_backend.inference.memory.device_memory import is_out_of_memory
from virnucpro_backend.weights.model_folder import LoadedModel
from virnucpro_backend.weights.model_json import ModelDescription

SOME_TOKEN = 5
"""An ordinary token of both vocabularies."""

SWITCH_SECONDS = 0.0002
"""How long a thread that prepares kernels may keep the others waiting. With Python's usual 5 ms, the thread
that copies hundreds of tensors would wait for longer than it copies."""


def warm_up(model: LoadedModel) -> None:
    """Run both encoders on a GPU over sequences of every size that has its own kernel.

    If an encoder's fused kernels fail here, it uses the plain ones. Raises LoadFailedError
    `precision_unsupported` if this PyTorch lacks FP8 products for this GPU.
    """
    if model.device.type != "cuda":
        return
    for encoder in (model.esm2, model.dnabert_s):
        try:
            run_every_kernel(encoder, model.device)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            if model.precision == "fp8":
                raise lacks_precision("fp8", f"FP8 does not work with this PyTorch: {error}") from error
            if encoder.ops.name == Ops.name:
                raise
            kernels.record_fallback(
                kernels.without_fused_kernels(
                    f"The program's kernels do not work here ({kernels.first_line(error)})"
                )
            )
            encoder.use_kernels_for(model.device, fused=False)
            run_every_kernel(encoder, model.device)


def run_every_kernel(encoder: Esm2 | DnabertS, device: torch.device) -> None:
    """Embed a sequence of every size that has its own kernel, and wait for the GPU."""
    blocks = range(1, MOST_BLOCKS + 2) if encoder.attention.packs else (1,)
    layout = SequenceLayout.from_lengths([count * BLOCK for count in blocks], device)
    tokens = torch.full((layout.n_tokens,), SOME_TOKEN, dtype=torch.int32, device=device)
    encoder.embed(tokens, layout)
    torch.cuda.synchronize(device)


log = logging.getLogger(__name__)


@contextmanager
def compiling_kernels(model: ModelDescription, precision: Precision, device: torch.device) -> Iterator[None]:
    """Prepare the kernels of both encoders of a model while the block runs, and wait for them at its end.

    One thread prepares both, as Triton is not made for several: with two, an encoder has once ended with the
    plain kernels. This is only a head start: `warm_up` tries again whatever fails here, and reports it.
    Meanwhile it takes the memory of one layer of each encoder.
    """
    dtype = DTYPES[precision]
    one_layer_each: tuple[Callable[[], Esm2 | DnabertS], ...] = (
        partial(Esm2, replace(model.esm2, layers=1), dtype),
        partial(DnabertS, replace(model.dnabert_s, layers=1), dtype),
    )
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        with ThreadPoolExecutor(1, "compilation") as thread:
            for one_layer in one_layer_each:
                thread.submit(_compile, one_layer, precision, device)
            yield
    finally:
        sys.setswitchinterval(usual)


def _compile(one_layer: Callable[[], Esm2 | DnabertS], precision: Precision, device: torch.device) -> None:
    """Run an encoder of one layer; its weights don't matter."""
    began = time.monotonic()
    try:
        if kernels.usable(device, DTYPES[precision]):
            with torch.device(device):
                encoder = one_layer().to(device)
            encoder.use_kernels_for(device)
            if precision == "fp8" and isinstance(encoder, Esm2):
                encoder.to_fp8()
            run_every_kernel(encoder, device)
            seconds = time.monotonic() - began
            log.info("kernels of %s are there after %.1f s", type(encoder).__name__, seconds)
    except Exception as error:
        log.info("kernels could not be compiled ahead: %s", error)
