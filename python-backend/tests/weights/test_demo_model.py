"""The scripts make exactly the committed demo model and sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import tokenizers
import torch
from published_files import DEMO

from tools.make_sample import make_contigs, to_fasta
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint

BACKEND = DEMO.parents[2]
DEVELOPERS = {**os.environ, "PYTHONPATH": os.pathsep.join(str(BACKEND / name) for name in ("src", ""))}
FILES = (
    "esm2_demo.pt",
    "dnabert_s/pytorch_model.bin",
    "dnabert_s/config.json",
    "dnabert_s/tokenizer.json",
    "500_model.pth",
    "model.json",
    "made_with.json",
)


def test_the_scripts_make_the_committed_files(tmp_path: Path) -> None:
    # It runs in a separate process, as it seeds PyTorch and sets the number of threads.
    command = [sys.executable, "-m", "tools.make_demo_model", str(tmp_path)]
    subprocess.run(command, env=DEVELOPERS, check=True, capture_output=True)
    assert sorted(str(p.relative_to(DEMO)) for p in DEMO.rglob("*") if p.is_file()) == sorted(FILES)
    made_with = json.loads((DEMO / "made_with.json").read_text())
    here = {"torch": torch.__version__.split("+")[0], "tokenizers": tokenizers.__version__}
    if here == made_with:
        for name in FILES:
            assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes(), name
        return
    print(f"made with {made_with}, here is {here}: the tensors are compared, not the bytes")
    for name in ("esm2_demo.pt", "dnabert_s/pytorch_model.bin", "500_model.pth"):
        made, committed = open_checkpoint(tmp_path / name).tensors, open_checkpoint(DEMO / name).tensors
        assert set(made) == set(committed)
        assert all(torch.equal(made[key], committed[key]) for key in committed), name
    vocabularies = [
        json.loads((folder / "dnabert_s" / "tokenizer.json").read_text())["model"]["vocab"]
        for folder in (tmp_path, DEMO)
    ]
    assert vocabularies[0] == vocabularies[1]


def test_the_model_is_small() -> None:
    assert sum(path.stat().st_size for path in DEMO.rglob("*")) <= 3_000_000


def test_the_script_makes_the_committed_sample() -> None:
    assert to_fasta(make_contigs()) == (DEMO.parent / "sample.fa").read_text()
