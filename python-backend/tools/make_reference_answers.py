"""Makes resources/reference-answers.json: the four reading frames whose embeddings and scores are known.

For the published models they come from a run of the original tool with its real weights
(tests/data/original_run, and for the scores its prediction_results.txt). For the teaching model this program
computes them in FP32 on a CPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.selftest.model import KnownFrame, compute_answers, part_frames
from virnucpro_backend.weights.model_json import read_model_json

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "python-backend" / "tests" / "data" / "original_run"
TEACHING = ROOT / "resources" / "teaching-model"
TARGET = ROOT / "resources" / "reference-answers.json"

SCORES = {
    "synthetic_seq_1_chunk_1R1": (0.12100612, 0.8789939),
    "synthetic_seq_1_chunk_1R2": (0.0011595711, 0.9988405),
    "synthetic_seq_2_chunk_1R1": (0.5501341, 0.4498659),
    "synthetic_seq_2_chunk_1R2": (0.06045397, 0.93954605),
}
"""score1 and score2 in prediction_results.txt of that run, with the 500 model in FP32."""


def fasta(path: Path) -> dict[str, str]:
    """Read the sequences of a FASTA file by name."""
    records = [record.split("\n", 1) for record in path.read_text(encoding="ascii").split(">")[1:]]
    return {name.strip(): letters.replace("\n", "") for name, letters in records}


def published(with_scores: bool) -> list[dict[str, Any]]:
    """Return the frames with the original tool's norms, and its scores for the 500 model."""
    nucleotides = fasta(RUN / "test_with_orfs_identified_nucleotide.fa")
    proteins = fasta(RUN / "test_with_orfs_identified_protein.faa")
    merged = torch.load(RUN / "output_1_merged.pt", weights_only=True)
    vectors = dict(zip(merged["ids"], merged["data"].double(), strict=True))
    return [
        {
            "id": name,
            "nucleotides": nucleotides[name],
            "protein": proteins[name],
            "esm2_norm": float(vectors[name][768:].norm()),
            "dnabert_s_norm": float(vectors[name][:768].norm()),
            "score1": SCORES[name][0] if with_scores else None,
            "score2": SCORES[name][1] if with_scores else None,
        }
        for name in SCORES
    ]


def teaching() -> list[dict[str, Any]]:
    """Return the same frames with the teaching model's results."""
    frames = published(with_scores=False)
    part: PartFrames = part_frames([KnownFrame(**frame) for frame in frames])
    torch.set_num_threads(1)
    answers = compute_answers("cpu", "fp32", TEACHING, part)
    return [
        {
            **frame,
            "esm2_norm": float(answers.esm2[i]),
            "dnabert_s_norm": float(answers.dnabert_s[i]),
            "score1": float(answers.scores[i, 0]),
            "score2": float(answers.scores[i, 1]),
        }
        for i, frame in enumerate(frames)
    ]


def main() -> None:
    """Write the file."""
    model = read_model_json(TEACHING)
    of_original = {
        "esm2": {"layers": 36, "width": 2560},
        "dnabert_s": {"layers": 12, "width": 768},
        "against": "original_tool",
    }
    answers = [
        {
            "models": ["500"],
            **of_original,
            "source": "a run of the original VirNucPro with its 500 model, in FP32",
            "frames": published(with_scores=True),
        },
        {
            "models": ["300"],
            **of_original,
            "source": "embeddings of a run of the original VirNucPro; scores are known for 500 only",
            "frames": published(with_scores=False),
        },
        {
            "models": ["teaching"],
            "esm2": {"layers": model.esm2.layers, "width": model.esm2.width},
            "dnabert_s": {"layers": model.dnabert_s.layers, "width": model.dnabert_s.width},
            "against": "stored",
            "source": "the teaching model, computed in FP32 on a processor",
            "frames": teaching(),
        },
    ]
    TARGET.write_text(json.dumps(answers, indent=2) + "\n", encoding="ascii", newline="\n")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
