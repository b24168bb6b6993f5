"""Compares the result tables of run folders by their hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from virnucpro_backend.safetensors_file import sha256_of_file

TABLES = (
    "prediction_results.txt",
    "prediction_results_highestscore.csv",
    "sequences.tsv",
    "results.parquet",
    "chunks.tsv",
    "viral_sequences.fna",
    "failed_files.txt",
    "failed_records.tsv",
)
"""The files that don't depend on the time and the devices of a run (see RESULT_FILES in
electron/contract/results.ts): all except run.json."""


def table_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each existing table by its name."""
    return {name: sha256_of_file(folder / name) for name in TABLES if (folder / name).exists()}


def unequal_tables(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the names of tables that differ, or that only one of two runs has."""
    return [name for name in TABLES if one.get(name) != other.get(name)]
