# mypy: ignore-errors
"""Names of Gluon that differ between versions of Triton (3.6 to 3.9), and copies of matrix tiles."""

from __future__ import annotations

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
_store = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global
_VIEW_HAS_A_PUBLIC_NAME: gl.constexpr = gl.constexpr(hasattr(gl.shared_memory_descriptor, "reinterpret"))

DTYPES = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}


@gluon.jit
def load_tile(matrix, at, barrier, tile):
    """Start copying a matrix tile to shared memory, with zeros past its end; the barrier counts bytes."""
    _load(matrix, at, barrier, tile)


@gluon.jit
def store_tile(matrix, at, tile):
    """Start copying a tile from shared memory into a matrix, up to its last row."""
    _store(matrix, at, tile)


@gluon.jit
def wait_for_stores():
    """Wait until the tiles being stored have been read, so that they can be overwritten."""
    tma.store_wait(0)


@gluon.jit
def viewed(tiles, shape: gl.constexpr):
    """View the same shared memory as tiles of another shape."""
    if _VIEW_HAS_A_PUBLIC_NAME:
        view = tiles.reinterpret(tiles.dtype, shape, tiles.layout)
    else:
        view = tiles._reinterpret(tiles.dtype, shape, tiles.layout)
    return view


def tile_descriptor(matrix: torch.Tensor, rows: int, columns: int) -> TensorDescriptor:
    """Describe a contiguous BF16 or FP16 matrix [n, m], to be copied in tiles of this shape."""
    block = [rows, columns]
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[matrix.dtype])
    return TensorDescriptor.from_tensor(matrix, block, layout)
