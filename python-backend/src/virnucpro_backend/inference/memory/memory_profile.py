"""How many tokens a batch may hold, from what a model was measured to need: arithmetic without a device.

Memory in use at the height of a batch of t tokens is taken to be `fixed_bytes + t * bytes_per_token`. All
bytes are of the device's memory; the allowance is what this process can hold of it at most.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from virnucpro_backend.typed_commands import Count, Positive

Placement = Literal["resident", "streamed"]
"""Where ESM-2's layers are: all on the device, or in main memory, coming to the device one by one."""

PlacementChoice = Literal["auto", "resident", "streamed"]
"""The engine's choice; `auto` is resident where that leaves memory for batches."""

SMALLEST_BUDGET = 256
"""Tokens; a device that can't hold a batch of so few can't do this work."""

SPARE_BYTES = 256 << 20
"""Left for the embeddings of the parts in progress, and for kernels that are not loaded yet."""

SHARE_FOR_BATCHES = 0.9
"""Of what is left; the rest is for holes between tensors of many sizes."""


class MemoryProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model needs on a device in one placement. `code`: the software that this was measured with."""

    placement: Placement
    fixed_bytes: Count
    bytes_per_token: Positive
    code: str

    def fields(self) -> dict[str, object]:
        """As it goes into a message."""
        return msgspec.structs.asdict(self)


def profile_through(
    smaller: tuple[int, int], larger: tuple[int, int], placement: Placement, code: str
) -> MemoryProfile:
    """The profile on which two measurements (tokens, peak bytes) lie.

    Where the larger batch needed no more than the smaller one, a token costs one byte. Raises ValueError
    unless the second has more tokens.
    """
    (few, low), (many, high) = smaller, larger
    if many <= few:
        raise ValueError("the second measurement must be of a larger batch")
    per_token = max(1, math.ceil((high - low) / (many - few)))
    return MemoryProfile(placement, max(0, low - few * per_token), per_token, code)


def wider(one: MemoryProfile, other: MemoryProfile) -> MemoryProfile:
    """A profile that both encoders keep to, one after the other on the same device."""
    return msgspec.structs.replace(
        one,
        fixed_bytes=max(one.fixed_bytes, other.fixed_bytes),
        bytes_per_token=max(one.bytes_per_token, other.bytes_per_token),
    )


def budget(profile: MemoryProfile, allowance: int, wanted: int) -> int:
    """Tokens per batch: `wanted` if they fit, else the largest 256 * 2^k that fits, or 0.

    Powers of two, so that a few megabytes more or less of free memory do not change the batches.
    """
    fitting = _room(profile, allowance) // profile.bytes_per_token
    if fitting >= wanted:
        return wanted
    if fitting < SMALLEST_BUDGET:
        return 0
    steps: int = int(fitting // SMALLEST_BUDGET).bit_length() - 1
    return SMALLEST_BUDGET << steps


def after_running_out(profile: MemoryProfile, allowance: int, before: int, after: int) -> MemoryProfile:
    """The profile corrected by experience: with this allowance `before` tokens did not fit, `after` are next.

    Where the allowance has shrunk so far that the profile says as much by itself, it was right.
    """
    if budget(profile, allowance, before) <= after:
        return profile
    least_that_tells = _room(profile, allowance) // (after + 1) + 1
    return msgspec.structs.replace(profile, bytes_per_token=least_that_tells)


def _room(profile: MemoryProfile, allowance: int) -> int:
    return max(0, int((allowance - profile.fixed_bytes - SPARE_BYTES) * SHARE_FOR_BATCHES))
