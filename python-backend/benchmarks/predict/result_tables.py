"""The result tables of a run folder, by their hashes."""

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
"""What does not depend on when and on how many devices a run was made (see RESULT_FILES in
electron/contract/results.ts): all but run.json."""


def table_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each table that is there, by its name."""
    return {name: sha256_of_file(folder / name) for name in TABLES if (folder / name).exists()}


def unequal_tables(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of the tables that differ, or that only one of two runs has."""
    return [name for name in TABLES if one.get(name) != other.get(name)]
