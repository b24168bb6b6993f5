"""The real prepare writes parts and the real worker scores them, so their files and messages must match."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import safetensors.numpy
from running_worker import RunningWorker

BACKEND = Path(__file__).parents[2]
SAMPLE = BACKEND / "tests" / "data" / "sample.fa"


def schema(name: str) -> jsonschema.Draft202012Validator:
    content = json.loads((BACKEND / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(content)


def test_prepare_and_worker_fit_together(tmp_path: Path) -> None:
    command = {
        "type": "prepare",
        "inputs": [{"input": 0, "path": str(SAMPLE), "sha256": None}],
        "work_dir": str(tmp_path / "work"),
        "chunk_length": 500,
        "residues_per_part": 8192,
        "tail_parts": 4,
        "order_seed": None,
    }
    schema("prepare-command").validate(command)
    prepare = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-u", "-m", "virnucpro_backend.prepare"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert prepare.stdin is not None
    assert prepare.stdout is not None
    prepare.stdin.write(json.dumps(command) + "\n")
    prepare.stdin.flush()
    events = []
    for line in prepare.stdout:
        events.append(json.loads(line))
        schema("prepare-event").validate(events[-1])
        if events[-1]["type"] in ("done", "prepare_failed"):
            prepare.stdin.close()
    assert prepare.wait(timeout=30) == 0
    assert events[0]["type"] == "hello"
    parts = [event for event in events if event["type"] == "part"]
    (done,) = [event for event in events if event["type"] == "done"]
    assert len(parts) == done["parts"] > 2
    assert sum(part["frames"] for part in parts) == done["frames"] > 0

    with RunningWorker() as worker:
        worker.load()
        for part in parts:
            worker.send(
                type="part",
                part=part["key"],
                part_path=str(tmp_path / part["path"]),
                part_sha256=part["sha256"],
                frame_begin=0,
                frame_end=part["frames"],
                scores_path=str(tmp_path / "work" / "scores" / f"{part['key']}.safetensors"),
                embeddings_path=None,
            )
        for part in parts:
            scored = worker.wait_for("part_done")
            assert (scored["part"], scored["frames"]) == (part["key"], part["frames"])
            assert scored["residues"] == part["residues"]
            scores = safetensors.numpy.load_file(scored["scores_path"])
            assert len(scores["score2"]) == part["frames"]
            assert np.isfinite(scores["score2"]).all()
