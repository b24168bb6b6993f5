"""Device memory: what is in use, and what to do when there is no more."""

from __future__ import annotations

import gc

import torch

from virnucpro_backend.devices.host import own_memory_bytes
from virnucpro_backend.inference.memory.memory_profile import (
    SMALLEST_BUDGET,
    MemoryProfile,
    after_running_out,
)

_OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says, in any of the ways PyTorch has for it, that memory has run out."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY_WORDS)


class TokenBudget:
    """Tokens that a batch may hold on this device: the plan's number until memory runs out, then less.

    It never grows again: what did not fit once would fail again and again.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    @property
    def tokens(self) -> int:
        """The most tokens a batch may hold now."""
        return self._tokens

    def limit(self, tokens: int) -> None:
        """Hold at most `tokens` from now on. May be called from any thread."""
        self._tokens = min(self._tokens, tokens)

    def halve(self, failed_tokens: int) -> bool:
        """Half of the failed batch, or of the budget if that is less; False where no less is possible."""
        after = min(self._tokens, failed_tokens) // 2
        if after < SMALLEST_BUDGET:
            return False
        self._tokens = after
        return True


class DeviceMemory:
    """What is known of a GPU's memory and of what the model needs there, corrected where it runs out."""

    def __init__(self, device: torch.device, limit: int | None, profile: MemoryProfile) -> None:
        self._device = device
        self._limit = limit
        self._profile = profile

    def ran_out(self, tokens_before: int, tokens_after: int) -> MemoryProfile:
        """A batch within `tokens_before` did not fit; `tokens_after` are tried next. Cached memory has been
        given back already.
        """
        room = allowance(self._device, self._limit)
        self._profile = after_running_out(self._profile, room, tokens_before, tokens_after)
        return self._profile


def free_cached_memory(device: torch.device) -> None:
    """Wait for the device and give back all memory that holds no tensor."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.synchronize()
        torch.mps.empty_cache()


def allowance(device: torch.device, limit: int | None) -> int:
    """Bytes of a GPU's memory that PyTorch can hold at most: what it holds already, and what is free now.

    `limit`: bytes that this process must not exceed. What CUDA itself takes is no longer free.
    """
    free, _ = torch.cuda.mem_get_info(device)
    most = free + torch.cuda.memory_reserved(device)
    return int(most if limit is None else min(most, limit))


def memory_in_use(device: torch.device) -> int:
    """Bytes this process holds on the device, cached ones included; for a CPU, of main memory."""
    if device.type == "cuda":
        return int(torch.cuda.memory_reserved(device))
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return own_memory_bytes()
