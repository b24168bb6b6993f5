"""The kernels run on a GPU if there is one, and otherwise in Triton's interpreter."""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture
def device() -> torch.device:
    """The device of the kernels; skips the test if there is none."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 4):
        pytest.skip("no GPU, and Triton's interpreter does not work with this NumPy (2.4 or newer)")
    return torch.device("cpu")
