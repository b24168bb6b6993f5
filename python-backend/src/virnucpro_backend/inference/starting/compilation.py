"""Compiles kernels while the weights are read and checked, since both take seconds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders import kernels
from virnucpro_backend.encoders.dnabert_s import DnabertS
from virnucpro_backend.encoders.esm2 import Esm2
from virnucpro_backend.encoders.precision import DTYPES
from virnucpro_backend.inference.starting.warm_up import run_every_kernel
from virnucpro_backend.weights.model_json import ModelDescription

log = logging.getLogger(__name__)


@contextmanager
def compiling_kernels(model: ModelDescription, precision: Precision, device: torch.device) -> Iterator[None]:
    """Compile the kernels of both encoders of a model while the block runs, and wait for them at its end.

    Each encoder has its own thread, as compilers release the interpreter's lock. This is only a head start:
    `warm_up` tries again whatever fails here, and reports it. Meanwhile it takes the memory of one layer of
    each encoder.
    """
    dtype = DTYPES[precision]
    one_layer_each: tuple[Callable[[], Esm2 | DnabertS], ...] = (
        partial(Esm2, replace(model.esm2, layers=1), dtype),
        partial(DnabertS, replace(model.dnabert_s, layers=1), dtype),
    )
    with ThreadPoolExecutor(thread_name_prefix="compilation") as threads:
        for one_layer in one_layer_each:
            threads.submit(_compile, one_layer, precision, device)
        yield


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
