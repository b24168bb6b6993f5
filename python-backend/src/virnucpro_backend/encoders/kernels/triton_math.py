# mypy: ignore-errors
"""Base-2 exponential, without the three instructions by which Triton's own handles results under 1e-38."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

if triton.knobs.runtime.interpret:  # The interpreter has no device library.

    @triton.jit
    def exp2(x):
        """2^x, elementwise."""
        return tl.exp2(x)

else:
    exp2 = libdevice.exp2
