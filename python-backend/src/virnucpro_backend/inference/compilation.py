"""Compiling kernels while the weights are read and checked: both take seconds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import torch

from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.precision import DTYPES, Precision
from virnucpro_backend.inference.warm_up import run_every_kernel
from virnucpro_backend.weights.model_json import ModelDescription

log = logging.getLogger(__name__)


@contextmanager
def compiling_kernels(model: ModelDescription, precision: Precision, device: torch.device) -> Iterator[None]:
    """Compile, while the block runs, what both encoders of a model will need; at its end wait until all is
    there.

    A thread an encoder: compilers leave Python to others. Nothing depends on it: what fails here is told by
    `warm_up`, which tries it again. Takes the memory of one layer of each encoder for that time.
    """
    dtype = DTYPES[precision]

    def esm2() -> Esm2:
        encoder = Esm2(replace(model.esm2, layers=1), dtype)
        encoder.use_kernels_for(device)
        if precision == "fp8":
            encoder.to_fp8()
        return encoder

    def dnabert_s() -> DnabertS:
        encoder = DnabertS(replace(model.dnabert_s, layers=1), dtype)
        encoder.use_kernels_for(device)
        return encoder

    with ThreadPoolExecutor(thread_name_prefix="compilation") as threads:
        for encoder in (esm2, dnabert_s):
            threads.submit(_compile, encoder, dtype, device)
        yield


def _compile(one_layer: Callable[[], Esm2 | DnabertS], dtype: torch.dtype, device: torch.device) -> None:
    """Run an encoder of one layer, whose weights are of no account."""
    began = time.monotonic()
    try:
        if kernels.usable(device, dtype):
            with torch.device(device):
                encoder = one_layer().to(device)
            run_every_kernel(encoder, device)
            log.info("kernels of %s are there after %.1f s", one_layer.__name__, time.monotonic() - began)
    except Exception as error:
        log.info("kernels could not be compiled ahead: %s", error)
