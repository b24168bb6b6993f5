"""Token budgets are computed correctly for any memory sizes."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virnucpro_backend.inference.memory.memory_profile import (
    SMALLEST_BUDGET,
    MemoryProfile,
    after_running_out,
    budget,
    profile_through,
    wider,
)

GIB = 1 << 30
sizes = st.integers(min_value=0, max_value=200 * GIB)
profiles = st.builds(
    MemoryProfile,
    placement=st.sampled_from(["resident", "streamed"]),
    fixed_bytes=st.integers(min_value=0, max_value=20 * GIB),
    bytes_per_token=st.integers(min_value=1, max_value=10 << 20),
    code=st.text(max_size=20),
)
wanted_tokens = st.integers(min_value=1, max_value=200_000)


@given(profiles, sizes, wanted_tokens)
def test_a_budget_fits_and_is_not_much_too_small(profile: MemoryProfile, allowance: int, wanted: int) -> None:
    tokens = budget(profile, allowance, wanted)
    needed = profile.fixed_bytes + tokens * profile.bytes_per_token
    assert tokens <= wanted
    assert tokens == 0 or needed < allowance
    assert tokens in (0, wanted) or (tokens % SMALLEST_BUDGET == 0 and tokens & (tokens - 1) == 0)
    if 0 < tokens < wanted:
        assert 2 * tokens * profile.bytes_per_token > 0.9 * (allowance - profile.fixed_bytes) - GIB // 2


@given(profiles, sizes, sizes, wanted_tokens)
def test_more_memory_never_means_smaller_batches(
    profile: MemoryProfile, one: int, other: int, wanted: int
) -> None:
    assert budget(profile, min(one, other), wanted) <= budget(profile, max(one, other), wanted)


@given(profiles, sizes, st.integers(min_value=2 * SMALLEST_BUDGET, max_value=100_000))
def test_a_size_that_ran_out_of_memory_is_not_tried_again(
    profile: MemoryProfile, allowance: int, before: int
) -> None:
    after = before // 2
    learnt = after_running_out(profile, allowance, before, after)
    assert learnt.bytes_per_token >= profile.bytes_per_token
    assert budget(learnt, allowance, before) <= after
    assert msgspec.convert(learnt.fields(), MemoryProfile) == learnt


def test_memory_taken_by_other_programs_does_not_change_the_profile() -> None:
    profile = MemoryProfile("resident", 6 * GIB, 64 << 10, "code")
    assert budget(profile, 8 * GIB, 16_384) == 16_384
    # Other programs took a gibibyte during the run; the profile already predicts the smaller batch.
    assert after_running_out(profile, 7 * GIB, 16_384, 8192) == profile
    # No other program took memory, and still only 4,096 tokens fitted.
    learnt = after_running_out(profile, 8 * GIB, 8192, 4096)
    assert budget(learnt, 8 * GIB, 16_384) == 4096
    assert budget(learnt, 12 * GIB, 16_384) == 8192


@given(profiles, st.integers(1, 5000), st.integers(1, 5000))
def test_two_measurements_determine_the_profile(profile: MemoryProfile, few: int, more: int) -> None:
    points = [(t, profile.fixed_bytes + t * profile.bytes_per_token) for t in (few, few + more)]
    assert profile_through(*points, profile.placement, profile.code) == profile
    assert wider(profile, profile_through(*points, profile.placement, profile.code)) == profile


def test_uninformative_measurements_are_handled() -> None:
    assert profile_through((512, 900), (2048, 900), "resident", "c").bytes_per_token == 1
    with pytest.raises(ValueError, match="larger"):
        profile_through((512, 900), (512, 901), "resident", "c")
