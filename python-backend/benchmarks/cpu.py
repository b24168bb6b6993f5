"""`python -m benchmarks.cpu`: measure ESM-2 3B on a processor, and its matrix products alone.

One call measures a layer's matrix products, as PyTorch computes them and with packed weights, the program's
encoder in as many single-threaded worker processes as there are cores, in one worker, and in the threads of
one process, Hugging Face's ESM-2, DNABERT-S, and the operations of DNABERT-S's published code, in batches of
1, 16 or 64 frames, whichever is fastest. In a sweep through all layers, complete layers are timed, including
the conversion of their weights. Rates are residues per second for the entire encoder, or frames per second of
DNABERT-S, without a worker's other tasks (reading, writing, classifying).
`--rows` adds Hugging Face's ESM-2 through torch.compile, ONNX Runtime and OpenVINO, where installed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks import TOKENIZER
from benchmarks.published_dnabert_s import PublishedDnabertS
from virnucpro_backend.check.conditions import conditions
from virnucpro_backend.devices.allocator import SETTINGS
from virnucpro_backend.encoders.blocks import BLOCKS_PER_LAYER
from virnucpro_backend.encoders.layout import SequenceLayout
from virnucpro_backend.encoders.mapped_layers import SWEEP_TOKENS
from virnucpro_backend.encoders.packed_linear import PackedLinear
from virnucpro_backend.encoders.precision import DTYPES
from virnucpro_backend.fidelity.random_model import RandomWeights, write_random_model
from virnucpro_backend.weights.model_folder import LoadedModel, load_model

MODULE = "benchmarks.cpu"
RESIDUES, FRAME_TOKENS = 166, 104
"""A frame of 500 bp has 166 residues and about 104 tokens of DNABERT-S."""

TOKENS_PER_BATCH = 2048
"""A run's default, defined in electron/contract/plan.ts and repeated here."""

TIMED_LAYERS = 2
AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
"""Settings that keep the libraries from using instructions newer than AVX2."""


ROWS = ("products", "packed_products", "encoder", "threads", "hugging_face", "dnabert", "published_dnabert")
OTHER_ROWS = ("compiled", "onnx_runtime", "openvino")
"""The encoder in other runtimes; OpenVINO chooses its precision by the processor."""


IN_ONE_PROCESS = ("threads", "hugging_face", "published_dnabert", *OTHER_ROWS)
"""Rows that use all threads in one process. The others start one process per thread."""


class EnoughError(Exception):
    """Ends a measurement after enough layers."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table and write the JSON; return the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder (default: random weights, made for this)")
    parser.add_argument("--workers", type=int, default=psutil.cpu_count(logical=False) or 1)
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {', '.join(ROWS + OTHER_ROWS)}")
    parser.add_argument("--tokens-per-batch", type=int, default=TOKENS_PER_BATCH)
    parser.add_argument("--json", type=Path, help="file to write")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.row:
        _row(arguments.row, arguments.model, arguments.tokens_per_batch)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if model is None:
            model = Path(folder) / "model"
            device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
            write_random_model(model, RandomWeights(device), TOKENIZER, 500)
        rows = Rows(model, arguments.tokens_per_batch).measure(
            arguments.workers, arguments.precisions.split(","), arguments.rows.split(",")
        )
    if arguments.json is not None:
        content = {**conditions(MODULE, torch.device("cpu")), "workers": arguments.workers, "rows": rows}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


@dataclass(frozen=True)
class Rows:
    """What all rows of a call have in common."""

    model: Path
    tokens_per_batch: int

    def measure(self, workers: int, precisions: list[str], names: list[str]) -> list[dict[str, Any]]:
        """Measure the rows, and print each as soon as it is known."""
        rows = []
        for precision in precisions:
            for name in names:
                threaded = name in IN_ONE_PROCESS
                runs: list[tuple[str, int, dict[str, str]]] = [
                    (f"{name}{workers}" if threaded else name, 1 if threaded else workers, {})
                ]
                if name == "encoder" and workers > 1:
                    runs.append((name, 1, {}))
                if precision == "fp32" and name in ("products", "packed_products", "encoder"):
                    runs.append((name, workers, AVX2))
                for what, processes, environment in runs:
                    rows.append(self._measured(what, precision, processes, environment))
        if "products" in names:
            rows.append(self._measured("products", "int8", workers, {}))
        return rows

    def _measured(
        self, what: str, precision: str, processes: int, environment: dict[str, str]
    ) -> dict[str, Any]:
        """Start processes that begin together when all are ready, and add up their rates."""
        command = [sys.executable, "-m", MODULE, "--model", str(self.model), "--row", f"{what}:{precision}"]
        command += ["--tokens-per-batch", str(self.tokens_per_batch)]
        running = [
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**SETTINGS, **os.environ, **environment, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            )
            for _ in range(processes)
        ]
        for signal in ("ready", "done"):
            for process in running:
                assert process.stdin is not None
                assert process.stdout is not None
                if process.stdout.readline().strip() != signal:
                    for each in running:
                        each.kill()
                    return _print({"what": what, "precision": precision, "failed": True})
            for process in running:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
        found = [json.loads(process.communicate()[0]) for process in running]
        return _print(
            {
                "what": what.rstrip("0123456789"),
                "precision": precision,
                "instructions": "AVX2" if environment else "all",
                "processes": processes,
                "per_second": round(sum(each["per_second"] for each in found), 2),
                "share_of_conversion": round(statistics.mean(each.get("conversion", 0) for each in found), 4),
                "memory_gb": round(sum(each["pss"] for each in found) / 1e9, 2),
                "private_memory_gb_largest": round(max(each["private"] for each in found) / 1e9, 2),
                "peak_resident_gb_largest": round(max(each["peak"] for each in found) / 1e9, 2),
            }
        )


def _print(row: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps(row), flush=True)
    return row


@torch.inference_mode()
def _row(row: str, model: Path, tokens_per_batch: int) -> None:
    """Run one process of a row."""
    what, precision = row.split(":")
    name = what.rstrip("0123456789")
    threads = int(what[len(name) :] or 1)
    torch.set_num_threads(threads if name in IN_ONE_PROCESS and name != "threads" else 1)
    make: Callable[[], Callable[[], Any]] = {
        "products": lambda: _products(precision, tokens_per_batch),
        "packed_products": lambda: _products(precision, tokens_per_batch, packed=True),
        "encoder": lambda: _encoder(_loaded(model, precision), tokens_per_batch),
        "threads": lambda: _threads(model, precision, threads, tokens_per_batch),
        "hugging_face": lambda: _hugging_face(precision, lambda model, *_: model),
        "compiled": lambda: _hugging_face(precision, lambda model, *_: torch.compile(model)),
        "onnx_runtime": lambda: _hugging_face(precision, _onnx_runtime),
        "openvino": lambda: _hugging_face(precision, _openvino),
        "dnabert": lambda: _dnabert_s(_loaded(model, precision), tokens_per_batch),
        "published_dnabert": lambda: _published_dnabert_s(precision),
    }[name]
    # What reads this process takes its first line for "ready"; torch.onnx.export prints how far it is.
    with contextlib.redirect_stdout(sys.stderr):
        work = make()
    _synchronise("ready")
    found = work()
    memory = psutil.Process().memory_full_info()
    _synchronise("done")
    memory = {
        "pss": getattr(memory, "pss", memory.rss),
        "private": memory.uss,
        "peak": _peak_of_memory(memory),
    }
    print(json.dumps({**found, **memory}), flush=True)


def _peak_of_memory(now: Any) -> int:
    """The peak resident memory, including the pages of the file that were read."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return int(now.rss)
    # Unlike ru_maxrss, VmHWM doesn't include the parent process.
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _synchronise(signal: str) -> None:
    print(signal, flush=True)
    sys.stdin.readline()


def _loaded(model: Path, precision: str) -> LoadedModel:
    return load_model(model, "cpu", precision, mapped=True)  # type: ignore[arg-type]


def _batches(tokens_per_sequence: int, tokens_per_batch: int) -> list[tuple[Tensor, SequenceLayout]]:
    """Make a sweep's batches of sequences of equal length with ordinary tokens."""
    count = tokens_per_batch // tokens_per_sequence
    made = []
    for _ in range(max(1, SWEEP_TOKENS // (count * tokens_per_sequence))):
        layout = SequenceLayout.from_lengths([tokens_per_sequence] * count, torch.device("cpu"))
        made.append((torch.randint(5, 24, (layout.n_tokens,), dtype=torch.int32), layout))
    return made


def _encoder(model: LoadedModel, tokens_per_batch: int) -> Callable[[], dict[str, float]]:
    batches = _batches(RESIDUES + 2, tokens_per_batch)
    sequences = sum(len(layout.lengths) for _, layout in batches)

    def run() -> dict[str, float]:
        times: list[float] = []
        steps_per_layer = BLOCKS_PER_LAYER * len(batches)

        def step_done(_share: float) -> None:
            times.append(time.perf_counter())
            if len(times) == (1 + TIMED_LAYERS) * steps_per_layer:
                raise EnoughError

        with contextlib.suppress(EnoughError):
            model.esm2.embed_all(batches, step_done)
        # Leave out the first layer, which looks up most of its first product.
        steps = np.diff(times)[steps_per_layer - 1 :].reshape(TIMED_LAYERS, BLOCKS_PER_LAYER, len(batches))
        seconds = float(steps.sum(axis=(1, 2)).mean())
        conversion = float((steps[..., 0] - np.median(steps[..., 1:], axis=-1)).sum(axis=1).mean())
        return {
            "per_second": sequences * RESIDUES / (model.esm2.config.layers * seconds),
            "conversion": conversion / seconds,
        }

    return run


def _threads(
    model: Path, precision: str, threads: int, tokens_per_batch: int
) -> Callable[[], dict[str, float]]:
    runs = [_encoder(_loaded(model, precision), tokens_per_batch) for _ in range(threads)]

    def one(run: Callable[[], dict[str, float]]) -> dict[str, float]:
        torch.set_num_threads(1)
        return run()

    def run() -> dict[str, float]:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(one, runs))
        return {
            "per_second": sum(each["per_second"] for each in found),
            "conversion": statistics.mean(each["conversion"] for each in found),
        }

    return run


def _dnabert_s(model: LoadedModel, tokens_per_batch: int) -> Callable[[], dict[str, float]]:
    batches = _batches(FRAME_TOKENS, tokens_per_batch)

    def run() -> dict[str, float]:
        model.dnabert_s.embed_all(batches[:1])
        began = time.perf_counter()
        model.dnabert_s.embed_all(batches)
        frames = sum(len(layout.lengths) for _, layout in batches)
        return {"per_second": frames / (time.perf_counter() - began)}

    return run


def _published_dnabert_s(precision: str) -> Callable[[], dict[str, float]]:
    model = PublishedDnabertS().to(DTYPES[precision]).eval()  # type: ignore[index]

    def per_second(frames: int) -> float:
        tokens = torch.randint(5, 24, (frames, FRAME_TOKENS))
        return frames / _fewest_seconds(lambda: model(tokens))

    return lambda: {"per_second": max(map(per_second, (1, 16, 64)))}


def _products(
    precision: str, tokens_per_batch: int, *, packed: bool = False
) -> Callable[[], dict[str, float]]:
    """Time the four matrix products of a layer of ESM-2 3B for a batch."""
    shapes = ((2560, 7680), (2560, 2560), (2560, 10240), (10240, 2560))
    count = tokens_per_batch // (RESIDUES + 2)
    rows = count * (RESIDUES + 2)
    products: list[Callable[[], Tensor]] = []
    for inputs, outputs in shapes:
        if precision == "int8":
            x8 = torch.randint(-127, 128, (rows, inputs), dtype=torch.int8)
            w8 = torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8).t()
            products.append(lambda x=x8, w=w8: torch._int_mm(x, w))  # type: ignore[misc]
        else:
            dtype = DTYPES[precision]  # type: ignore[index]
            x, w = torch.randn(rows, inputs, dtype=dtype), torch.randn(outputs, inputs, dtype=dtype)
            if packed:
                linear = PackedLinear(torch.nn.Linear(inputs, outputs, bias=False, dtype=dtype))
                linear.pack(w)
                products.append(lambda x=x, linear=linear: linear(x))  # type: ignore[misc]
            else:
                products.append(lambda x=x, w=w: functional.linear(x, w))  # type: ignore[misc]

    def run() -> dict[str, float]:
        for product in products:
            product()
        times: list[float] = []
        began = time.perf_counter()
        while time.perf_counter() - began < 4 or len(times) < 3:
            start = time.perf_counter()
            for product in products:
                product()
            times.append(time.perf_counter() - start)
        return {"per_second": count * RESIDUES / (36 * statistics.mean(times))}

    return run


def _hugging_face(precision: str, made_of: Callable[..., Any]) -> Callable[[], dict[str, float]]:
    """Time EsmModel, in the form that `made_of` returns, with all threads; 4 of its 36 equal layers run."""
    transformers: Any = importlib.import_module("transformers")

    layers = 4
    model = transformers.EsmModel(
        transformers.EsmConfig(
            vocab_size=33,
            mask_token_id=32,
            pad_token_id=1,
            hidden_size=2560,
            num_hidden_layers=layers,
            num_attention_heads=40,
            intermediate_size=10240,
            position_embedding_type="rotary",
            token_dropout=True,
            attn_implementation="sdpa",
        ),
        add_pooling_layer=False,
    )
    model = model.to(DTYPES[precision]).eval()  # type: ignore[index]
    tokens = torch.randint(5, 24, (24, RESIDUES + 2))
    kept = torch.ones_like(tokens)
    embed = made_of(model, tokens, kept)

    def run() -> dict[str, float]:
        seconds = _fewest_seconds(lambda: embed(input_ids=tokens, attention_mask=kept))
        return {"per_second": len(tokens) * RESIDUES / (seconds * 36 / layers)}

    return run


def _fewest_seconds(work: Callable[[], Any]) -> float:
    """Time three calls, after two that may compile something, and return the shortest."""
    for _ in range(2):
        work()
    times: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def _onnx_runtime(model: Any, tokens: Tensor, kept: Tensor) -> Callable[..., Any]:
    runtime: Any = importlib.import_module("onnxruntime")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "esm2.onnx"
        torch.onnx.export(
            model, (tokens, kept), path, input_names=["input_ids", "attention_mask"], dynamo=True
        )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def embed(**inputs: Tensor) -> Any:
        return session.run(None, {name: value.numpy() for name, value in inputs.items()})

    return embed


def _openvino(model: Any, tokens: Tensor, kept: Tensor) -> Callable[..., Any]:
    openvino: Any = importlib.import_module("openvino")

    example = {"input_ids": tokens, "attention_mask": kept}
    converted = openvino.convert_model(model, example_input=example)
    compiled = openvino.Core().compile_model(
        converted, "CPU", {"INFERENCE_NUM_THREADS": torch.get_num_threads()}
    )

    def embed(**inputs: Tensor) -> Any:
        return compiled({name: value.numpy() for name, value in inputs.items()})

    return embed


if __name__ == "__main__":
    sys.exit(main())
