"""Runs the real backend with built-in faults, to test how the engine handles them.

Called like an interpreter (`-X utf8 -u -m virnucpro_backend.worker ...`); VIRNUCPRO_FAULT names the faults,
which are functions below, as `name` or `name:argument`, with commas between. Everything but a worker is
handed on to the real interpreter untouched, but for the environment check, which names this stand-in, with
`gpus` the probe, which finds the GPUs of a file, and prepare with `slow_reading`.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORKER = "virnucpro_backend.worker"
PREPARE = "virnucpro_backend.prepare"
PROBE = "virnucpro_backend.devices.probe"
CHECK = "virnucpro_backend.environment_check"


def before_launch(act: Callable[[Any], None]) -> None:
    """Call `act(frames)` when a part goes to the device."""
    from virnucpro_backend.inference.scorer import PartScorer

    launch = PartScorer.launch

    def faulty(self: PartScorer, part: Any, listener: Any = None) -> Any:
        act(part.frames)
        return launch(self, part, listener)

    PartScorer.launch = faulty  # type: ignore[method-assign]


def wrong_version(_: str) -> None:
    from virnucpro_backend import protocol

    protocol.PROTOCOL_VERSION = 999


def library_print(_: str) -> None:
    def act(_: Any) -> None:
        print("a library says hello on standard output")
        os.write(1, b"and so does its C part\n")

    before_launch(act)


def general_kernels(why: str) -> None:
    from virnucpro_backend.encoders import kernels

    kernels.record_fallback(why)


def stalled(_: str) -> None:
    before_launch(lambda _: time.sleep(600))


def stall_once(marker: str) -> None:
    at_first_launch(marker, lambda: time.sleep(600))


def die_once(marker: str) -> None:
    at_first_launch(marker, die)


def at_first_launch(marker: str, act: Callable[[], object]) -> None:
    """Act when a part goes to the device, unless the file `marker` says that this happened before."""

    def at_first(_: Any) -> None:
        if not Path(marker).exists():
            Path(marker).touch()
            act()

    before_launch(at_first)


def die_at(residues: str) -> None:
    """Die if a part contains this protein sequence."""

    def act(frames: Any) -> None:
        if residues.encode() in frames.residues.tobytes():
            die()

    before_launch(act)


def die() -> None:
    """Die like a victim of the system's out-of-memory killer."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def instant(_: str) -> None:
    """Derive scores from protein lengths without computing; everything else is the real worker's."""
    from types import SimpleNamespace

    import numpy as np

    from virnucpro_backend.inference.part_file import PartFrames
    from virnucpro_backend.inference.scorer import PartScorer, PartScores

    def launch(_self: PartScorer, part: Any, listener: Any) -> Any:
        listener.batch_done(part.frames.count, len(part.frames.residues))
        return part

    def collect(_self: PartScorer, launched: Any) -> PartScores:
        frames: PartFrames = launched.frames
        score2 = (37 * frames.residue_counts % 101 / np.float32(101)).astype(np.float32)
        return PartScores(
            score1=np.float32(1) - score2,
            score2=score2,
            state=np.zeros(frames.count, np.uint8),
            embeddings=None,
            norms=None,
            outside_norm_band=0,
            batch_halvings=0,
            repeated_proteins=0,
            repeated_nucleotides=0,
            esm2_batches=1,
            esm2_tokens=len(frames.residues),
        )

    def prepare(_self: PartScorer, frames: PartFrames) -> Any:
        return SimpleNamespace(frames=frames, part=SimpleNamespace(frames=frames))

    PartScorer.prepare = prepare  # type: ignore[method-assign]
    PartScorer.launch = launch  # type: ignore[method-assign]
    PartScorer.needs_recomputation = lambda *_: False  # type: ignore[method-assign]
    PartScorer.collect = collect  # type: ignore[method-assign]


def permitted(folder: str) -> None:
    """Take a file from this folder before computing each part, and wait while there is none. Stop waiting
    when the folder is gone.
    """
    from virnucpro_backend.inference.pipeline import PartPipeline
    from virnucpro_backend.inference.scorer import LaunchedPart

    compute = PartPipeline._compute

    def took_one() -> bool:
        try:
            next(Path(folder).iterdir()).unlink()
        except (StopIteration, FileNotFoundError):
            return False  # No file is left, or another worker took it first.
        return True

    def faulty(self: PartPipeline, job: Any, work: Any) -> None:
        while not isinstance(work, LaunchedPart) and Path(folder).exists() and not took_one():
            self._check_stop()
            time.sleep(0.02)
        compute(self, job, work)

    PartPipeline._compute = faulty  # type: ignore[method-assign]


def gpus(path: str) -> None:
    """Compute on the processor as if it were one of a file's GPUs. `probe` is the probe's output. `cards` has
    by UUID a `capability`, bytes `total` and `free`, `fixed` (by placement) and
    `per_token` for the model, and `holds`: the most tokens that fit into ESM-2 before memory runs out.
    """
    import torch

    from virnucpro_backend.devices.opening import OpenDevice, check_capability
    from virnucpro_backend.encoders.esm2 import Esm2
    from virnucpro_backend.inference import loading
    from virnucpro_backend.inference.memory import device_memory
    from virnucpro_backend.inference.memory.memory_profile import MemoryProfile
    from virnucpro_backend.inference.memory.model_memory import ModelSizes, placement_of, software

    cards = json.loads(Path(path).read_text(encoding="utf-8"))["cards"]
    uuid = os.environ["CUDA_VISIBLE_DEVICES"]
    card = cards[uuid]

    def open_device(kind: str, precision: Any, fraction: float | None) -> OpenDevice:
        check_capability(card["name"], tuple(card["capability"]), precision)
        torch.set_num_threads(1)
        limit = None if fraction is None else int(fraction * card["total"])
        return OpenDevice(torch.device("cpu"), card["name"], uuid, card["total"], limit)

    def measure(model: Any) -> MemoryProfile:
        with open(f"{path}.measured", "a", encoding="utf-8") as file:
            file.write(f"{uuid}\n")
        placement = placement_of(model)
        return MemoryProfile(placement, card["fixed"][placement], card["per_token"], software(model))

    embed_all = Esm2.embed_all

    def limited(self: Esm2, batches: Any, *step_done: Any) -> Any:
        if max(layout.n_tokens for _, layout in batches) > card["holds"]:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return embed_all(self, batches, *step_done)

    loading.open_device = open_device
    loading.measure_profile = measure
    loading.allowance = device_memory.allowance = lambda device, limit: min(
        card["free"], limit or card["free"]
    )
    sizes = ModelSizes(card["fixed"]["resident"], card["fixed"]["resident"], card["per_token"])
    ModelSizes.of = lambda *_: sizes  # type: ignore[method-assign,assignment]
    Esm2.embed_all = limited  # type: ignore[method-assign]


def slow_reading(marker: str) -> None:
    """Wait before the second block of an input until this file exists."""
    from virnucpro_backend.prepare import input_file

    read_full = input_file._read_full
    blocks = 0

    def faulty(stream: Any) -> bytes:
        nonlocal blocks
        while blocks == 1 and not Path(marker).exists():
            time.sleep(0.02)
        blocks += 1
        return read_full(stream)

    input_file._read_full = faulty


def main() -> None:
    arguments = sys.argv[1:]
    faults = dict(fault.partition(":")[::2] for fault in os.environ["VIRNUCPRO_FAULT"].split(","))
    if "gpus" in faults and PROBE in arguments:
        print(json.dumps(json.loads(Path(faults["gpus"]).read_text(encoding="utf-8"))["probe"]))
        return
    if CHECK in arguments:
        # The engine starts the interpreter that the check reports; it must be this one, to fake workers too.
        sys.executable = str(Path(__file__).with_name("python.sh"))
        run_module(CHECK, arguments)
        return
    if PREPARE in arguments and "slow_reading" in faults:
        slow_reading(faults["slow_reading"])
        run_module(PREPARE, arguments)
        return
    if WORKER not in arguments:
        os.execv(sys.executable, [sys.executable, *arguments])
    for name, argument in faults.items():
        globals()[name](argument)
    run_module(WORKER, arguments)


def run_module(name: str, arguments: list[str]) -> None:
    """Do what `python ARGUMENTS` does, with `-m NAME` among the arguments."""
    sys.argv = [name, *arguments[arguments.index(name) + 1 :]]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
