"""Makes resources/controls/known-scores.json: the teaching model's FP32 scores of the panel's frames.

Run `npm run python -- training.make_known_scores` after the model or the panel has changed.
"""

from __future__ import annotations

import json
from pathlib import Path

from virnucpro_backend.check.panel import KnownScores, panel_file
from virnucpro_backend.check.scoring import score_sequences
from virnucpro_backend.weights.model_json import read_model_json

RESOURCES = Path(__file__).resolve().parents[2] / "resources"


def main() -> None:
    folder = RESOURCES / "teaching-model"
    model = read_model_json(folder)
    panel = panel_file(RESOURCES, model.chunk_length)
    scored = score_sequences([panel], folder, "cpu", "fp32")
    scores: KnownScores = {header.split()[0]: [] for header in scored.headers}
    # Each sequence is one chunk.
    for chunk, score in zip(scored.chunk_of, scored.scores[:, 1], strict=True):
        scores[scored.headers[chunk].split()[0]].append(round(float(score), 6))
    text = json.dumps({model.model_hash: {panel.name: scores}}) + "\n"
    (RESOURCES / "controls" / "known-scores.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
