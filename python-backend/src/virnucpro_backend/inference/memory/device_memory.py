"""Device memory: how much is in use, and what to do when it runs out."""

from __future__ import annotations

import gc

import torch

from virnucpro_backend.devices.host import own_memory_bytes
from virnucpro_backend.inference.memory.memory_profile import MemoryProfile, after_running_out

_OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception is one of PyTorch's various out-of-memory errors."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY_WORDS)


class DeviceMemory:
    """What is known about a GPU's memory and the model's needs, corrected whenever memory runs out."""

    def __init__(self, device: torch.device, limit: int | None, profile: MemoryProfile) -> None:
        self._device = device
        self._limit = limit
        self._profile = profile

    def ran_out(self, tokens_before: int, tokens_after: int) -> MemoryProfile:
        """Correct the profile after a batch within `tokens_before` did not fit, before `tokens_after` are
        tried. Cached memory must already have been freed.
        """
        room = allowance(self._device, self._limit)
        self._profile = after_running_out(self._profile, room, tokens_before, tokens_after)
        return self._profile


def free_cached_memory(device: torch.device) -> None:
    """Wait for the device and free all memory that holds no tensor."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.synchronize()
        torch.mps.empty_cache()


def allowance(device: torch.device, limit: int | None) -> int:
    """The most bytes of a GPU's memory that PyTorch can hold: what it already holds, and what is free.

    `limit`: bytes that this process must not exceed. Memory that CUDA itself uses doesn't count as free.
    """
    free, _ = torch.cuda.mem_get_info(device)
    most = free + torch.cuda.memory_reserved(device)
    return int(most if limit is None else min(most, limit))


def memory_in_use(device: torch.device) -> int:
    """Bytes that this process holds on the device, including cached ones; for a CPU, in main memory."""
    if device.type == "cuda":
        return int(torch.cuda.memory_reserved(device))
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return own_memory_bytes()


def start_peak_measurement(device: torch.device) -> None:
    """Forget the highest use so far."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> tuple[int, int | None]:
    """Most bytes held since the measurement was started, and most bytes that tensors took of them.

    The difference is cache and fragments. A device that keeps no count has what it holds now, and None.
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_reserved(device)), int(torch.cuda.max_memory_allocated(device))
    return memory_in_use(device), None
