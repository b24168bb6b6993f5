"""The committed demo model and sample are what their scripts make."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import tokenizers
import torch
from published_files import DEMO

from virnucpro_backend.weights.checkpoints import open_checkpoint

ROOT = DEMO.parents[1]
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
    script = ROOT / "build" / "make_demo_model.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
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


def test_the_sample_is_what_its_script_makes() -> None:
    program = "import make_sample, sys; sys.stdout.write(make_sample.to_fasta(make_sample.make_contigs()))"
    made = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "build", check=True, capture_output=True, text=True
    )
    assert made.stdout == (ROOT / "resources" / "sample.fa").read_text()
