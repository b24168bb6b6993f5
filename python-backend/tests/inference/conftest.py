from __future__ import annotations

import pytest
from made_parts import DEMO_MODEL

from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.weights.model_folder import load_model


@pytest.fixture(scope="session")
def make_scorer():  # type: ignore[no-untyped-def]
    """Return a factory of scorers with the demo model on the CPU."""

    def make(
        precision: str = "fp32",
        tokens_per_batch: int = 2048,
        *,
        streamed: bool = False,
        mapped: bool = False,
        **changes: object,
    ) -> PartScorer:
        model = load_model(DEMO_MODEL, "cpu", precision, streamed=streamed, mapped=mapped)  # type: ignore[arg-type]
        fields: dict[str, object] = {
            "model": model,
            "tokens_per_batch": tokens_per_batch,
            "embed_equal_sequences_once": False,
            "embeddings": None,
            "load_fp32": lambda device: load_model(DEMO_MODEL, device, "fp32"),
        }
        return PartScorer(**{**fields, **changes})  # type: ignore[arg-type]

    return make
