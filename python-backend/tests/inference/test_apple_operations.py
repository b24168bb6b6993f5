"""Without an Apple GPU, a part's operations are compared with those that PyTorch has for Apple's GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torchgen  # type: ignore[import-untyped]
from made_parts import random_frames
from torch.utils._python_dispatch import TorchDispatchMode

from virnucpro_backend.inference.encoding import BatchLoop
from virnucpro_backend.inference.scorer import PartScorer

OPERATIONS = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
INSTEAD = {"_scaled_dot_product_flash_attention_for_cpu": "_scaled_dot_product_attention_math_for_mps"}
"""Operations that PyTorch itself selects by device."""

ANYWHERE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")


class AskedOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the operations in its block, and whether one of them returns FP64, which these GPUs lack."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()
        self.doubles: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix("aten::")
        overload = func._schema.overload_name
        self.names.add(f"{name}.{overload}" if overload else name)
        if isinstance(out, torch.Tensor) and out.dtype == torch.float64:
            self.doubles.add(name)
        return out


def known_operations() -> dict[str, str]:
    """Return PyTorch's own description of each operation by name."""
    records = OPERATIONS.read_text(encoding="utf-8").split("\n- func: ")[1:]
    return {record.split("(", 1)[0]: record for record in records}


def runs_on_apple(name: str, known: dict[str, str]) -> bool:
    record = known[INSTEAD.get(name, name)]
    delegate = re.search(r"structured_delegate: (\S+)", record)
    if delegate:
        return runs_on_apple(delegate[1], known)
    if "\n  dispatch:" not in record:
        return True
    keys = {key for line in re.findall(r"\n    ([\w, ]+):", record) for key in line.split(", ")}
    return "MPS" in keys or any(key.startswith(ANYWHERE) for key in keys)


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_part_only_uses_operations_that_apples_gpus_have(
    make_scorer: Callable[..., PartScorer], precision: str
) -> None:
    scorer = make_scorer(precision, embed_equal_sequences_once=True, embeddings="fp32")
    with AskedOperations() as asked:
        scorer.score(random_frames(40, seed=2))
    known = known_operations()
    assert not runs_on_apple("segment_reduce", known), "the mean over packed sequences of other GPUs"
    assert len(asked.names) > 10
    assert {name for name in asked.names if not runs_on_apple(name, known)} == set()
    assert asked.doubles == set()


def test_the_host_waits_for_each_batch_so_that_the_engine_sees_steps_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[None] = []
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append(None))
    model: Any = SimpleNamespace(device=torch.device("mps"))
    BatchLoop(model, 512)._wait_if_far_ahead()
    assert len(waited) == 1
