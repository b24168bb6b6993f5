"""Measurements for developers; they are not part of the shipped program. See README.md beside this file."""

from pathlib import Path

TOKENIZER = (
    Path(__file__).resolve().parents[1] / "tests" / "data" / "demo-model" / "dnabert_s" / "tokenizer.json"
)
"""A tokenizer with the published vocabulary's size, for random weights."""
