from __future__ import annotations

import re
from pathlib import Path

from virnucpro_backend.encoders.batches import GPU_TOKENS_PER_BATCH

PLAN = Path(__file__).parents[3] / "electron" / "contract" / "plan.ts"


def test_benchmarks_use_the_batch_size_of_runs() -> None:
    (gpu,) = re.findall(r"TOKENS_PER_BATCH = \{ gpu: ([0-9_]+)", PLAN.read_text(encoding="utf-8"))
    assert int(gpu) == GPU_TOKENS_PER_BATCH
