"""Computes how many tokens a batch may hold from a model's measured needs, without using a device.

The peak memory of a batch of t tokens is assumed to be `fixed_bytes + t * bytes_per_token`. All bytes are of
the device's memory; the allowance is the most that this process can hold of it.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from virnucpro_backend.typed_commands import Count, Positive

Placement = Literal["resident", "streamed"]
"""Where ESM-2's layers are: all on the device, or in main memory, copied to the device one by one."""

PlacementChoice = Literal["auto", "resident", "streamed"]
"""The engine's choice; `auto` means resident if that leaves memory for batches."""

SMALLEST_BUDGET = 256
"""In tokens; a device that can't hold a batch this small can't be used."""

SPARE_BYTES = 256 << 20
"""Reserved for the embeddings of the parts in progress, and for kernels that are not loaded yet."""

SHARE_FOR_BATCHES = 0.9
"""The share of the remaining memory for batches; the rest allows for fragmentation."""


class MemoryProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model's needs on a device in one placement. `code`: the software it was measured with."""

    placement: Placement
    fixed_bytes: Count
    bytes_per_token: Positive
    code: str

    def fields(self) -> dict[str, object]:
        """Return the fields for a message."""
        return msgspec.structs.asdict(self)


def profile_through(
    smaller: tuple[int, int], larger: tuple[int, int], placement: Placement, code: str
) -> MemoryProfile:
    """Fit a profile to two measurements (tokens, peak bytes).

    If the larger batch needed no more than the smaller one, a token costs one byte. Raises ValueError unless
    the second has more tokens.
    """
    (few, low), (many, high) = smaller, larger
    if many <= few:
        raise ValueError("the second measurement must be of a larger batch")
    per_token = max(1, math.ceil((high - low) / (many - few)))
    return MemoryProfile(placement, max(0, low - few * per_token), per_token, code)


def wider(one: MemoryProfile, other: MemoryProfile) -> MemoryProfile:
    """Return a profile that covers both encoders, which run one after the other on the same device."""
    return msgspec.structs.replace(
        one,
        fixed_bytes=max(one.fixed_bytes, other.fixed_bytes),
        bytes_per_token=max(one.bytes_per_token, other.bytes_per_token),
    )


def budget(profile: MemoryProfile, allowance: int, wanted: int) -> int:
    """Return the tokens per batch: `wanted` if they fit, else the largest 256 * 2^k that fits, or 0.

    Powers of two keep the batches the same when free memory varies by a few megabytes.
    """
    fitting = _room(profile, allowance) // profile.bytes_per_token
    if fitting >= wanted:
        return wanted
    if fitting < SMALLEST_BUDGET:
        return 0
    steps: int = int(fitting // SMALLEST_BUDGET).bit_length() - 1
    return SMALLEST_BUDGET << steps


def after_running_out(profile: MemoryProfile, allowance: int, before: int, after: int) -> MemoryProfile:
    """Correct the profile: with this allowance `before` tokens did not fit, and `after` are tried next.

    If the allowance has shrunk so far that the profile already predicts this, the profile was right.
    """
    if budget(profile, allowance, before) <= after:
        return profile
    least_that_tells = _room(profile, allowance) // (after + 1) + 1
    return msgspec.structs.replace(profile, bytes_per_token=least_that_tells)


def _room(profile: MemoryProfile, allowance: int) -> int:
    return max(0, int((allowance - profile.fixed_bytes - SPARE_BYTES) * SHARE_FOR_BATCHES))
