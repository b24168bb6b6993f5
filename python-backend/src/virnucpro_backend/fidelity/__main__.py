"""`python -m virnucpro_backend.fidelity`: each precision beside FP32, on the same weights.

Scores every open reading frame of the inputs in each precision with the worker's own code, prints how far
the embeddings and labels are from FP32's, and says which precision to use with this model on this computer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders.batches import GPU_TOKENS_PER_BATCH
from virnucpro_backend.fidelity.frames import frames_of
from virnucpro_backend.fidelity.panel import Panel, measure_panel
from virnucpro_backend.fidelity.random_model import RandomWeights, demo_tokenizer
from virnucpro_backend.fidelity.source import FolderSource, RandomSource, WeightSource
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.weights.errors import WeightsError

SAMPLE = Path(__file__).resolve().parents[4] / "resources" / "sample.fa"
PRECISIONS: tuple[Precision, ...] = ("fp16", "bf16", "fp8")
RANDOM_WEIGHTS_DO_NOT_SETTLE_IT = (
    "These are not trained weights, and what they show does not settle it: trained weights are harsher on "
    "half precision and FP8, because some of their activations are far larger than the rest. Run this with "
    "your own model: --model FOLDER."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write; returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    device = torch.device(arguments.device or ("cuda" if torch.cuda.is_available() else "cpu"), 0)
    if device.type == "cpu":
        device = torch.device("cpu")
        torch.set_num_threads(1)  # as the worker does
        if arguments.model is None:
            parser.error("there is no GPU for random weights of the published size; give a --model FOLDER")
    inputs = arguments.input
    try:
        source = _source(arguments.model, device, arguments.seed)
        parts = [
            part
            for chunk_length in source.chunk_lengths
            for part in frames_of(inputs, chunk_length, arguments.residues_per_part)
        ]
        panel = Panel(
            source=source,
            device=device,
            inputs=inputs,
            parts=parts,
            precisions=arguments.precisions,
            tokens_per_batch=arguments.tokens_per_batch,
            bounded_parts=arguments.bounded_parts,
            try_int8=not arguments.no_int8,
        )
        content = measure_panel(panel, lambda line: print(line, flush=True))
    except (PrepareError, WeightsError) as error:
        print(f"{error.message} {error.next_step}", file=sys.stderr)
        return 1
    except PartFailedError as error:
        print(error.message, file=sys.stderr)
        return 1
    if not source.settles_it:
        print(f"\n{RANDOM_WEIGHTS_DO_NOT_SETTLE_IT}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {arguments.json}")
    return 0


def _source(folder: Path | None, device: torch.device, seed: int) -> WeightSource:
    if folder is not None:
        return FolderSource(folder, device)
    return RandomSource(RandomWeights(device, seed), demo_tokenizer())


def _precisions(text: str) -> list[Precision]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PRECISIONS]:
        raise argparse.ArgumentTypeError(f"not one of {', '.join(PRECISIONS)}: {', '.join(unknown)}")
    return [name for name in PRECISIONS if name in names]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.fidelity", description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder (default: random weights, on a GPU)")
    parser.add_argument(
        "--input",
        type=Path,
        nargs="+",
        default=[SAMPLE],
        help="FASTA or FASTQ files (default: the bundled sample)",
    )
    parser.add_argument("--precisions", type=_precisions, default=list(PRECISIONS), help="default: all")
    parser.add_argument("--device", choices=("cuda", "cpu"), help="default: the first GPU, else the CPU")
    parser.add_argument("--tokens-per-batch", type=int, default=GPU_TOKENS_PER_BATCH)
    parser.add_argument("--residues-per-part", type=int, default=65_536)
    parser.add_argument(
        "--bounded-parts",
        type=int,
        default=2,
        help="parts to score also in halved batches and in two halves (default 2)",
    )
    parser.add_argument("--no-int8", action="store_true", help="leave out the trial of INT8")
    parser.add_argument("--seed", type=int, default=1, help="of random weights")
    parser.add_argument("--json", type=Path, help="file to write")
    return parser


if __name__ == "__main__":
    sys.exit(main())
