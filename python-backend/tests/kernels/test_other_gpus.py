"""Whether the general kernels fit GPUs that nobody has here: compiled for them, which needs no GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHARED_BYTES = {80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 120: 99 << 10}
"""What a block of threads may take of a multiprocessor's memory, by compute capability (CUDA's programming
guide): A100; RTX 30 and A10; RTX 40, L4 and L40; RTX 50."""

REGISTERS, THREADS = 65_536, 128
"""Of a multiprocessor, and of a block of each of these kernels."""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_the_general_kernels_fit_gpus_that_are_not_here(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    found = subprocess.run(
        [sys.executable, Path(__file__).with_name("compile_for_gpus.py")],
        env={**environment, "TRITON_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    rows = json.loads(found.stdout)
    assert {row["capability"] for row in rows} == set(SHARED_BYTES)
    for row in rows:
        assert row["shared_bytes"] <= SHARED_BYTES[row["capability"]], row
        assert row["registers"] * THREADS <= REGISTERS, row
