"""Pinned main memory, which a GPU can copy from without the processor's help."""

from __future__ import annotations

import logging
import weakref
from typing import Any

import torch
from torch import Tensor

log = logging.getLogger(__name__)


class HostMemory:
    """Blocks of main memory, uint8 [n_bytes] each, pinned as far as the system allows.

    Each is a separate allocation that is pinned afterwards: PyTorch's allocator of pinned memory would round
    it up to the next power of two.
    """

    def __init__(self, count: int, n_bytes: int, *, pin: bool) -> None:
        self._blocks = [torch.empty(n_bytes, dtype=torch.uint8, device="cpu") for _ in range(count)]
        pinned = []
        for block in self._blocks if pin else ():
            if not _pin(block):
                break
            pinned.append(block)
        self.pinned = len(pinned) == count
        if pin and not self.pinned:
            log.warning("only %d of %d layers are in pinned memory: slower copies", len(pinned), count)
        # At exit the system frees the memory by itself.
        weakref.finalize(self, _unpin, pinned).atexit = False

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, number: int) -> Tensor:
        return self._blocks[number]


def _pin(memory: Tensor) -> bool:
    try:
        torch.cuda.check_error(_cudart().cudaHostRegister(memory.data_ptr(), memory.nbytes, 0))
    except Exception as error:
        log.warning("main memory can't be pinned: %s", error)
        _forget_last_error()
        return False
    return True


def _unpin(pinned: list[Tensor]) -> None:
    """Unpin blocks before their memory is freed."""
    if pinned:
        torch.cuda.synchronize()
        for memory in pinned:
            _cudart().cudaHostUnregister(memory.data_ptr())


def _cudart() -> Any:
    return torch.cuda.cudart()  # type: ignore[no-untyped-call]


def _forget_last_error() -> None:
    """Clear CUDA's last error, which PyTorch would otherwise attribute to its next launch."""
    try:
        torch.zeros(1, device="cuda")
    except RuntimeError:
        log.debug("the refusal was forgotten")
