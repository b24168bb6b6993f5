"""`python -m benchmarks.encoder_rates`: measure how fast each encoder alone processes a run's parts.

This is the reference for the entire program: the same model, the same frames and batches, on the same GPU,
without reading, tokenizing, the other encoder, the classifier, writing and the database.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open
from torch import Tensor

from benchmarks.conditions import conditions
from benchmarks.encoders.timing import Step, time_steps
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.encoders.batches import GPU_TOKENS_PER_BATCH
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.inference.batching import EncoderInput, HostBatch
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.warm_up import warm_up
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.model_folder import load_model

MODULE = "benchmarks.encoder_rates"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print one JSON object; return the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--parts", type=Path, nargs="+", required=True, help="files of work/parts")
    parser.add_argument("--precision", default="bf16", choices=("bf16", "fp16", "fp8"))
    parser.add_argument("--tokens-per-batch", type=int, default=GPU_TOKENS_PER_BATCH)
    parser.add_argument("--seconds", type=float, default=15.0)
    arguments = parser.parse_args(argv)
    set_up_device_allocator()
    if not torch.cuda.is_available():
        print("There is no GPU that this PyTorch can use.", file=sys.stderr)
        return 1
    print(json.dumps(measure(arguments)))
    return 0


@torch.inference_mode()
def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure residues per second of ESM-2, and then frames per second of DNABERT-S."""
    device = torch.device("cuda", 0)
    model = load_model(arguments.model, device, arguments.precision)
    warm_up(model)
    scorer = PartScorer(model, arguments.tokens_per_batch, False, None, lambda where: model)
    esm2_steps: list[Step] = []
    dnabert_s_steps: list[Step] = []
    frames = residues = 0
    for path in arguments.parts:
        part = scorer.prepare(read_part(path, sha256_of_file(path), 0, _frame_count(path)))
        counts = part.frames.residue_counts
        frames, residues = frames + part.frames.count, residues + int(counts.sum())
        esm2_steps += _steps(part.esm2, model.esm2.embed, device, counts)
        dnabert_s_steps += _steps(part.dnabert_s, model.dnabert_s.embed, device, np.ones_like(counts))
    esm2 = time_steps(esm2_steps, arguments.seconds, device)
    dnabert_s = time_steps(dnabert_s_steps, arguments.seconds / 2, device)
    return {
        **conditions(MODULE, device),
        "precision": arguments.precision,
        "tokens_per_batch": arguments.tokens_per_batch,
        "frames": frames,
        "residues": residues,
        "esm2_residues_per_second": round(esm2.rate, 1),
        "esm2_residues_per_second_at_first": round(esm2.rate_at_first, 1),
        "dnabert_s_frames_per_second": round(dnabert_s.rate, 1),
        "sm_mhz": esm2.sm_mhz,
        "power_w": esm2.power_w,
        "code": f"{model.esm2.ops.name}, {model.esm2.attention.name} attention",
    }


def _steps(
    source: EncoderInput,
    embed: Callable[[Tensor, SequenceLayout], Tensor],
    device: torch.device,
    worth: npt.NDArray[np.int64],
) -> list[Step]:
    """Make a step per batch; `worth`: how much each frame counts in the rate, [f]."""

    def launch(batch: HostBatch) -> None:
        layout = SequenceLayout.from_lengths(batch.batch.lengths, device)
        embed(batch.tokens.to(device, non_blocking=True), layout)

    return [Step(partial(launch, batch), int(worth[batch.batch.members].sum())) for batch in source.batches]


def _frame_count(path: Path) -> int:
    with safe_open(path, framework="np") as file:
        return int(file.get_slice("residue_offsets").get_shape()[0]) - 1


if __name__ == "__main__":
    sys.exit(main())
