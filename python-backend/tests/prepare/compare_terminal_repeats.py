"""Compares terminal repeats with CheckV's own functions on 10,000 made-up sequences.

`pip install --no-deps checkv==1.1.1 biopython psutil loguru requests pyrodigal pyrodigal-gv`, then
`PYTHONPATH=src python tests/prepare/compare_terminal_repeats.py`. CheckV counts 21-mers with a package that
is compiled; they are counted here by its definition, so that no compiler is needed.
"""

from __future__ import annotations

import collections
import sys
import types

import numpy as np

from virnucpro_backend.prepare.terminal_repeats import DIRECT, INVERTED, NONE, terminal_repeat

_COMPLEMENT = str.maketrans("ACGT", "TGCA")


def count_kmers(sequence: str, k: int, **_: bool) -> dict[str, int]:
    """Count words of A, C, G and T, each with its reverse complement."""
    words = (sequence[place : place + k] for place in range(len(sequence) - k + 1))
    both = (min(word, word[::-1].translate(_COMPLEMENT)) for word in words if not set(word) - set("ACGT"))
    return dict(collections.Counter(both))


sys.modules["kcounter"] = types.SimpleNamespace(count_kmers=count_kmers)  # type: ignore[assignment]
from checkv.modules.complete_genomes import fetch_dtr, fetch_itr, set_defaults  # noqa: E402
from checkv.utility import get_average_kmer_freq  # noqa: E402


def by_checkv(sequence: str, limits: dict[str, float]) -> tuple[int, int]:
    """Find and filter a repeat as `checkv complete_genomes` does in its steps 3, 4 and 6."""
    direct, inverted = fetch_dtr(sequence), fetch_itr(sequence, limits["tr_min_len"])
    if max(len(direct), len(inverted)) < limits["tr_min_len"]:
        return NONE, 0
    kind, repeat = (DIRECT, direct) if len(direct) >= len(inverted) else (INVERTED, inverted)
    is_flagged = (
        repeat.count("N") / len(repeat) > limits["tr_max_ambig"]
        or sequence.count(repeat) > limits["tr_max_count"]
        or collections.Counter(repeat).most_common(1)[0][1] / len(repeat) > limits["tr_max_basefreq"]
        or get_average_kmer_freq(types.SimpleNamespace(seq=sequence)) > limits["kmer_max_freq"]
    )
    return (NONE, 0) if is_flagged else (kind, len(repeat))


def made(random: np.random.Generator) -> str:
    """Make a sequence whose end repeats its beginning in one of many ways, or nearly."""

    def letters(n: int, of: str = "ACGT") -> str:
        return "".join(random.choice(list(of), n))

    end = letters(int(random.choice([*range(15, 30), 100, 500, 999, 1000, 1001, 1500])))
    if random.random() < 0.3:
        end = letters(len(end), str(random.choice(["AAAC", "AAAAG", "ACGTN", "NNACGT", "AT", "ACGTR"])))
    middle = letters(int(random.integers(960, 4000)))
    copies = int(random.choice([0, 0, 0, 0, 5, 6, 7, 8, 12]))
    middle += "".join(end + letters(3) for _ in range(copies))
    whole = {
        "direct": end + middle + end,
        "inverted": end + middle + end[::-1].translate(_COMPLEMENT),
        "both": end + middle + end + end[::-1].translate(_COMPLEMENT),
        "twice": middle * 2,
        "half": middle[:1200] + letters(int(random.integers(0, 3000))) + middle[:1200],
        "palindrome": middle[:700] + middle[:700][::-1].translate(_COMPLEMENT),
        "none": end + middle,
    }
    return whole[str(random.choice(list(whole)))]


def main() -> None:
    """Print how many sequences have which repeat, and each that differs; exit with 1 if one does."""
    random, limits = np.random.default_rng(4), {}
    set_defaults(limits)
    found: collections.Counter[int] = collections.Counter()
    differ = 0
    for _ in range(10_000):
        sequence = made(random)
        expected, own = by_checkv(sequence, limits), terminal_repeat(sequence.encode())
        found[expected[0]] += 1
        if own != expected:
            differ += 1
            print(f"CheckV {expected}, here {own}: {sequence[:40]}...{sequence[-40:]}")
    print(f"none {found[NONE]}, direct {found[DIRECT]}, inverted {found[INVERTED]}; {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
