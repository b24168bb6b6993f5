"""Runs the prepare process as the engine does, and checks every event against the exported schema."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
from safetensors.numpy import load_file

from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.frames import Frames

BACKEND = Path(__file__).parents[2]
Event = dict[str, Any]


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((BACKEND / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema)


def validate_problem(said: Event) -> None:
    """Fail unless the code is in the contract's list, with the values that its words name."""
    validator("problem").validate({"code": said["code"], "values": said["values"]})


@dataclass
class Outcome:
    """events: all events; max_rss: peak memory in bytes."""

    work_dir: Path
    events: list[Event]
    status: int
    max_rss: int

    def of(self, type: str) -> list[Event]:
        return [event for event in self.events if event["type"] == type]

    @property
    def last(self) -> Event:
        return self.events[-1]

    def problems(self) -> dict[tuple[int, str], Event]:
        return {(event["input"], event["code"]): event for event in self.of("input_problem")}

    def records(self) -> dict[str, np.ndarray[Any, Any]]:
        files = [load_file(self.work_dir.parent / event["path"]) for event in self.of("records")]
        names = [name for name in files[0] if not name.startswith("header")] if files else []
        return {name: np.concatenate([file[name] for file in files]) for name in names}

    def headers(self) -> list[str]:
        found = []
        for event in self.of("records"):
            file = load_file(self.work_dir.parent / event["path"])
            found += texts(file["header"], file["header_offsets"])
        return found

    def frames(self) -> list[tuple[int, int, int, str, str]]:
        """Return row, chunk, frame, protein and nucleotides of all parts."""
        found: list[tuple[int, int, int, str, str]] = []
        for event in self.of("part"):
            file = load_file(self.work_dir.parent / event["path"])
            proteins = texts(file["residues"], file["residue_offsets"])
            nucleotides = texts(file["nucleotides"], file["nucleotide_offsets"])
            columns = (file[name].tolist() for name in ("row", "chunk", "frame"))
            found += zip(*columns, proteins, nucleotides, strict=True)
        return found

    def file_bytes(self) -> dict[str, bytes]:
        files = sorted(path for path in self.work_dir.rglob("*") if path.is_file())
        return {str(path.relative_to(self.work_dir)): path.read_bytes() for path in files}


def texts(letters: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> list[str]:
    assert offsets[-1] == letters.size
    data = letters.tobytes()
    return [data[begin:end].decode("utf-8") for begin, end in pairwise(offsets.tolist())]


def texts_of(frames: Frames) -> list[tuple[int, int, str, str]]:
    """Return chunk, frame, protein and nucleotides of each."""
    proteins = texts(frames.residues, offsets_of(frames.residue_counts))
    nucleotides = texts(frames.nucleotides, offsets_of(frames.nucleotide_counts))
    return list(zip(frames.chunk.tolist(), frames.frame.tolist(), proteins, nucleotides, strict=True))


def prepare_job(
    work_dir: Path,
    paths: list[Path],
    *,
    chunk_length: int = 500,
    residues_per_part: int = 262144,
    tail_parts: int = 32,
    sha256: str | None = None,
    order_seed: int | None = None,
    repairs: tuple[str, ...] = (),
    added_from: float = math.inf,
) -> Event:
    """Return a job; inputs from number `added_from` on begin parts of their own."""
    job = {
        "type": "prepare",
        "inputs": [
            {
                "input": i,
                "path": str(path),
                "sha256": sha256,
                "repairs": list(repairs),
                "begins_parts": i >= added_from,
            }
            for i, path in enumerate(paths)
        ],
        "work_dir": str(work_dir),
        "chunk_length": chunk_length,
        "residues_per_part": residues_per_part,
        "tail_parts": tail_parts,
        "order_seed": order_seed,
    }
    validator("prepare-command").validate(job)
    return job


def run_prepare(run_dir: Path, paths: list[Path], **options: Any) -> Outcome:
    work_dir = run_dir / "work"
    work_dir.mkdir(parents=True, exist_ok=True)
    return run_line(work_dir, json.dumps(prepare_job(work_dir, paths, **options)))


def peak_memory(pid: int) -> int:
    """The peak memory so far in bytes; 0 if it is unknown.

    This is not `ru_maxrss`, because a child's starts with the memory of its parent, here a test runner with
    PyTorch.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def run_line(work_dir: Path, line: str) -> Outcome:
    command = [sys.executable, "-X", "utf8", "-u", "-m", "virnucpro_backend.prepare"]
    events, peak = [], 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        for text in process.stdout:
            events.append(json.loads(text))
            peak = max(peak, peak_memory(process.pid))
    for event in events:
        validator("prepare-event").validate(event)
        if event["type"] in ("input_problem", "prepare_failed"):
            validate_problem(event)
    return Outcome(work_dir, events, process.returncode, peak)
