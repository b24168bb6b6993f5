# mypy: ignore-errors
"""Base-2 exponential without the three instructions that Triton's own spends on results under 1e-38."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

if triton.knobs.runtime.interpret:  # The interpreter knows no device library.

    @triton.jit
    def exp2(x):
        """2^x, elementwise."""
        return tl.exp2(x)

else:
    exp2 = libdevice.exp2
