"""Rules that decide from measured figures which precisions are offered and which is recommended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from virnucpro_backend.devices.precisions import Precision, nvidia_precisions
from virnucpro_backend.fidelity.agreement import ScoreAgreement, VectorAgreement

Tried = Literal["bf16", "fp16", "fp8"]


@dataclass(frozen=True)
class Rule:
    """The cosine that at most a thousandth of the frames may fall below, and the share of labels that may
    flip; None if labels are not judged."""

    cosine_p01: float
    flip_share: float | None


RULES: Mapping[Tried, Rule] = {
    "bf16": Rule(0.997, None),
    "fp16": Rule(0.9999, 0.002),
    "fp8": Rule(0.999, 0.001),
}
"""BF16 and FP16 are compared with FP32, by the targets of FastPLMs and of the Broad Institute's fork of the
original tool: a pooled cosine of 0.997 in BF16, which ESM-2 3B reaches; 0.9999 and 99.8 % of the labels
in FP16. FP8 is compared with FP16: a cosine p0.1 of 0.999 and 0.1 % flips, because activations with outliers
are known to suffer. Their targets name a quantile only for FP8; it is used for all precisions."""

PREFERENCE: tuple[Literal["bf16", "fp16"], ...] = ("bf16", "fp16")
"""The precisions that a run chooses by itself, fastest first; only the user can choose FP8."""


@dataclass(frozen=True)
class Verdict:
    """Whether a precision may be used, and why not."""

    offered: bool
    reason: str


def judge(
    precision: Tried,
    against: str,
    embeddings: Mapping[str, VectorAgreement],
    scores: ScoreAgreement,
    failed: int,
) -> Verdict:
    """Apply a precision's rule to its figures. `against` names the reference."""
    rule = RULES[precision]
    reasons = []
    if failed:
        reasons.append(f"{failed:,} frames have no finite result")
    for name, agreement in embeddings.items():
        # The comparison is written so that NaN fails.
        if not agreement.cosine_p01 >= rule.cosine_p01:
            reasons.append(
                f"cosine p0.1 of {name} is {agreement.cosine_p01:.6f} against {against.upper()}, "
                f"at least {rule.cosine_p01} is needed"
            )
    if rule.flip_share is not None and not scores.flip_share <= rule.flip_share:
        reasons.append(
            f"{100 * scores.flip_share:.3f} % of the labels flip against {against.upper()}, "
            f"at most {100 * rule.flip_share:.1f} % may"
        )
    return Verdict(not reasons, "; ".join(reasons))


def describe_verdict(precision: Tried, verdict: Verdict) -> str:
    """Describe a verdict: a precision that a run may choose passes or not; FP8 is offered or refused."""
    good, bad = ("passes", "does not pass") if precision in PREFERENCE else ("offered", "refused")
    return good if verdict.offered else f"{bad}: {verdict.reason}"


def recommend(verdicts: Mapping[Tried, Verdict]) -> Precision:
    """The first preferred precision that was measured and passed; FP32 if none did."""
    passed = [name for name, verdict in verdicts.items() if verdict.offered]
    return next((name for name in PREFERENCE if name in passed), "fp32")


def default_precision(capability: tuple[int, int] | None) -> Precision:
    """The precision a run chooses on a GPU of this compute capability; None means no NVIDIA GPU."""
    if capability is None:
        return "fp32"
    able = nvidia_precisions(capability)
    return next((name for name in PREFERENCE if name in able), "fp32")
