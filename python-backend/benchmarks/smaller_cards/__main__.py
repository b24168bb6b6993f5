"""`python -m benchmarks.smaller_cards --model FOLDER --work EMPTY`: a large NVIDIA GPU made small.

Each row is a worker as the engine starts it, over the same part three times: the first makes it warm, the
others are timed. Memory is limited in one of two ways. `cap`: PyTorch's share of the card is set
(`set_per_process_memory_fraction`) so that the whole process stays within this many GiB; what CUDA itself
takes beside PyTorch is measured in the row without a cap. `neighbour`: another process holds all but this
many GiB. Every row's embeddings are compared with those of the first row of its precision, which has the
whole card.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pynvml  # type: ignore[import-untyped]
import safetensors.numpy

from benchmarks.smaller_cards.one_worker import OneWorker
from virnucpro_backend.encoders.batches import GPU_TOKENS_PER_BATCH
from virnucpro_backend.fidelity.conditions import conditions
from virnucpro_backend.safetensors_file import sha256_of_file, write_safetensors

GIB = 1 << 30
SHORTEST, LONGEST = 150, 166
"""Residues of the made-up frames: those of 500-bp chunks."""
ROUNDS = 3

NOT_PINNED = "from virnucpro_backend.encoders import host_memory as h; h._pin = lambda memory: False"
OLD_GPU = "import torch; torch.cuda.get_device_capability = lambda device=None: (7, 5)"
BALLAST = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(free - int(sys.argv[1]), dtype=torch.uint8, device="cuda")
print("holding", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Row:
    """What is different from a worker on a card of its own. `prologue`: Python that runs in it first.
    `misled`: its profile claims that a token takes one byte.
    """

    name: str
    cap: float | None = None
    neighbour: float | None = None
    prologue: str = ""
    load: dict[str, Any] = field(default_factory=dict)
    misled: bool = False

    @property
    def precision(self) -> str:
        return str(self.load.get("precision", "bf16"))


WHOLE_CARD = Row("whole card")


def rows(caps: Sequence[float]) -> list[Row]:
    """The rows that are compared with the whole card."""
    return [
        Row("streamed, as asked for", load={"placement": "streamed"}),
        Row("streamed, memory not pinned", prologue=NOT_PINNED, load={"placement": "streamed"}),
        *(Row(f"{cap:g} GiB", cap=cap) for cap in caps),
        Row("6 GiB left by a neighbour", neighbour=6.0),
        Row("6.7 GiB, memory runs out", cap=6.7, misled=True),
        Row("as compute capability 7.5, FP16", prologue=OLD_GPU, load={"precision": "fp16"}),
        Row("as compute capability 7.5, FP16, 4 GiB", 4, prologue=OLD_GPU, load={"precision": "fp16"}),
        Row("FP8, whole card", load={"precision": "fp8"}),
        Row("FP8, 4 GiB", cap=4, load={"precision": "fp8"}),
        Row("FP8, streamed, as asked for", load={"precision": "fp8", "placement": "streamed"}),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smaller_cards", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--caps", type=float, nargs="*", default=[12, 8, 6, 5, 4])
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--tokens-per-batch", type=int, default=GPU_TOKENS_PER_BATCH)
    parser.add_argument("--only", default="", help="rows whose names this regular expression finds")
    parser.add_argument("--seconds", type=float, default=600, help="begin no row after so long")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(argv)
    began = time.monotonic()
    part = write_part(arguments.work / "000000.safetensors", arguments.frames)
    card = Card()
    done: list[dict[str, Any]] = []
    tokens: int = arguments.tokens_per_batch
    whole, _ = measure(WHOLE_CARD, arguments.model, part, card, tokens, {})
    references: dict[str, dict[str, np.ndarray]] = {}
    for row in [WHOLE_CARD, *(row for row in rows(arguments.caps) if re.search(arguments.only, row.name))]:
        if time.monotonic() - began > arguments.seconds:
            break
        measured, embeddings = measure(row, arguments.model, part, card, tokens, whole)
        if embeddings is not None:
            reference = references.setdefault(row.precision, embeddings)
            measured["against_whole_card"] = agreement(embeddings, reference)
        done.append(measured)
        print(json.dumps(measured), flush=True)
        if arguments.json:
            report = {**conditions("benchmarks.smaller_cards", None), "gpu": card.name, "rows": done}
            arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


@dataclass(frozen=True)
class Part:
    path: Path
    sha256: str
    frames: int
    residues: int


def write_part(path: Path, count: int) -> Part:
    """A part of random frames, as prepare writes it."""
    random = np.random.default_rng(5)
    lengths = random.integers(SHORTEST, LONGEST + 1, count)
    ends, dna_ends = np.cumsum(lengths), np.cumsum(3 * lengths + 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_safetensors(
        path,
        {
            "row": np.arange(count, dtype=np.uint32),
            "chunk": np.zeros(count, dtype=np.uint32),
            "frame": np.zeros(count, dtype=np.uint8),
            "residues": random.choice(np.frombuffer(b"LAGVSERTIDPKQNFYMHWC", np.uint8), int(ends[-1])),
            "residue_offsets": np.concatenate(([0], ends)).astype(np.uint32),
            "nucleotides": random.choice(np.frombuffer(b"ACGT", np.uint8), int(dna_ends[-1])),
            "nucleotide_offsets": np.concatenate(([0], dna_ends)).astype(np.uint32),
        },
    )
    return Part(path, sha256_of_file(path), count, int(ends[-1]))


class Card:
    """The first GPU, as NVML sees it."""

    def __init__(self) -> None:
        pynvml.nvmlInit()
        self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        name = pynvml.nvmlDeviceGetName(self._handle)
        self.name = name if isinstance(name, str) else name.decode()
        self.total = int(pynvml.nvmlDeviceGetMemoryInfo(self._handle).total)

    def used(self) -> int:
        return int(pynvml.nvmlDeviceGetMemoryInfo(self._handle).used)

    @contextmanager
    def peak(self) -> Iterator[list[int]]:
        """The most bytes in use, in a list of one, while the block runs."""
        most, end = [self.used()], threading.Event()

        def watch() -> None:
            while not end.wait(0.02):
                most[0] = max(most[0], self.used())

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield most
        finally:
            end.set()
            thread.join()


@contextmanager
def neighbour(left_gib: float | None) -> Iterator[None]:
    """Another process that leaves so much of the GPU's memory free."""
    if left_gib is None:
        yield
        return
    process = subprocess.Popen(
        [sys.executable, "-c", BALLAST, str(int(left_gib * GIB))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


def measure(
    row: Row, model: Path, part: Part, card: Card, tokens_per_batch: int, whole: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, np.ndarray] | None]:
    """One row: what the worker said, how fast it was, and the embeddings of its last round.

    `whole`: what came out for the whole card, for rows with less of it.
    """
    fraction = None if row.cap is None else (row.cap * GIB - whole["beside_pytorch_bytes"]) / card.total
    with neighbour(row.neighbour):
        before = card.used()
        log = part.path.with_name("workers.log")
        with card.peak() as most, OneWorker(log, row.prologue) as worker:
            worker.send(
                **{
                    "type": "load",
                    "device": "cuda",
                    "model_folder": str(model),
                    "precision": "bf16",
                    "tokens_per_batch": tokens_per_batch,
                    "embed_equal_sequences_once": False,
                    "embeddings": "fp32",
                    "memory_fraction": fraction,
                    "most_tokens_per_batch": None,
                    "placement": "auto",
                    "memory_profile": {**whole["memory_profile"], "bytes_per_token": 1}
                    if row.misled
                    else None,
                    **row.load,
                }
            )
            ready = worker.wait_for("ready", "load_failed")
            result: dict[str, Any] = {"row": row.name, "memory_fraction": fraction}
            if ready["type"] == "load_failed":
                return {**result, "failed": ready["message"]}, None
            embeddings = part.path.with_name("embeddings.safetensors")
            for number in range(ROUNDS):
                worker.send(
                    type="part",
                    part=f"{number:06}",
                    part_path=str(part.path),
                    part_sha256=part.sha256,
                    frame_begin=0,
                    frame_end=part.frames,
                    scores_path=str(part.path.with_name("scores.safetensors")),
                    embeddings_path=str(embeddings),
                )
            rounds = [worker.wait_for("part_done", "part_failed") for _ in range(ROUNDS)]
    if any(each["type"] == "part_failed" for each in rounds):
        return {**result, "failed": [each.get("message") for each in rounds]}, None
    seconds = sum(each["seconds"] for each in rounds[1:])
    reserved = max(each["peak_memory_bytes"] for each in rounds)
    result |= {
        name: ready[name]
        for name in ("placement", "tokens_per_batch", "memory_profile", "memory_free_bytes", "load_seconds")
    }
    result |= {
        "residues_per_second": round(part.residues * (ROUNDS - 1) / seconds, 1),
        "batches_split": rounds[-1]["batch_halvings"],
        "pytorch_peak_bytes": reserved,
        "process_peak_bytes": most[0] - before,
        "beside_pytorch_bytes": max(0, most[0] - before - reserved),
        "told": [event["message"] for event in worker.seen if event["type"] == "log"],
        "out_of_memory": [event for event in worker.seen if event["type"] == "oom"],
    }
    return result, safetensors.numpy.load_file(embeddings)


def agreement(ours: dict[str, np.ndarray], reference: dict[str, np.ndarray]) -> dict[str, Any]:
    """By encoder: whether its embeddings are the same bytes, and how close they are."""
    return {
        name: {
            "same_bytes": ours[name].tobytes() == reference[name].tobytes(),
            "least_cosine": float(_cosines(ours[name], reference[name]).min()),
            "largest_difference": float(np.abs(ours[name] - reference[name]).max()),
        }
        for name in reference
    }


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    cosines: np.ndarray = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return cosines


if __name__ == "__main__":
    sys.exit(main())
