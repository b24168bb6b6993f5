"""Which precisions are offered, and which one is recommended: rules over measured figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.devices.precisions import nvidia_precisions
from virnucpro_backend.fidelity.agreement import ScoreAgreement, VectorAgreement
from virnucpro_backend.fidelity.int8 import Products

Tried = Literal["bf16", "fp16", "fp8", "int8"]

INT8_WORTHWHILE = 1.05
"""How much faster than FP8 its products must be: FP8 has the range that activations with outliers need."""


@dataclass(frozen=True)
class Rule:
    """Least cosine that at most a thousandth of the frames may fall below, and most labels that may flip;
    None where labels do not decide."""

    cosine_p01: float
    flip_share: float | None


RULES: Mapping[Tried, Rule] = {
    "bf16": Rule(0.997, None),
    "fp16": Rule(0.9999, 0.002),
    "fp8": Rule(0.999, 0.001),
    "int8": Rule(0.999, 0.001),
}
"""BF16 and FP16 are held against FP32, by the targets of FastPLMs and of the Broad Institute's fork of the
original tool: a pooled cosine of 0.997 in BF16, which is what ESM-2 3B gives; 0.9999 and 99.8 % of the labels
in FP16. FP8 and INT8 are held against FP16: cosine p0.1 of 0.999 and 0.1 % flips, because activations with
outliers are known to suffer. A quantile is named for FP8 only; the same is used for all."""

PREFERENCE: tuple[Literal["bf16", "fp16"], ...] = ("bf16", "fp16")
"""Precisions that a run chooses by itself, fastest first; FP8 is only ever chosen by the user."""


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
    """Hold a precision's figures against its rule. `against`: the reference's name; `embeddings`: of both
    encoders."""
    rule = RULES[precision]
    reasons = []
    if failed:
        reasons.append(f"{failed:,} frames have no finite result")
    for name, agreement in embeddings.items():
        # Written so that NaN fails.
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


def judge_int8(fidelity: Verdict, measured: Products) -> Verdict:
    """INT8 is refused unless it is faithful and its products beat those of FP8, or of BF16 without FP8."""
    reasons = [fidelity.reason] if fidelity.reason else []
    rival, rate = ("FP8", measured.fp8) if measured.fp8 is not None else ("BF16", measured.bf16)
    if measured.int8 is None:
        reasons.append("this GPU or PyTorch has no INT8 products")
    elif measured.int8 < INT8_WORTHWHILE * rate:
        reasons.append(
            f"its products alone run at {measured.int8:,.0f} TOP/s, those of {rival} at {rate:,.0f}"
        )
    return Verdict(not reasons, "; ".join(reasons) or "not built into the program")


def verdict_words(precision: Tried, verdict: Verdict) -> str:
    """As text. What a run may choose by itself passes or does not; the rest is offered or refused."""
    good, bad = ("passes", "does not pass") if precision in PREFERENCE else ("offered", "refused")
    return good if verdict.offered else f"{bad}: {verdict.reason}"


def recommend(verdicts: Mapping[Tried, Verdict]) -> Precision:
    """The first preferred precision that was measured and passed; FP32 where none did."""
    passed = [name for name, verdict in verdicts.items() if verdict.offered]
    return next((name for name in PREFERENCE if name in passed), "fp32")


def default_precision(capability: tuple[int, int] | None) -> Precision:
    """What a run chooses by itself on a GPU of this compute capability; None: on no NVIDIA GPU."""
    if capability is None:
        return "fp32"
    able = nvidia_precisions(capability)
    return next((name for name in PREFERENCE if name in able), "fp32")
