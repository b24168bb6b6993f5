"""Finds the files in a folder of the original tool or of its fork."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virnucpro_backend.weights.model_files import read_small_json

Tool = Literal["original", "fork"]

_LETTERS = (".fa", ".faa", ".fna", ".fasta")


@dataclass(frozen=True)
class LegacyFolder:
    """batches: files of the fork's second version with ESM-2's embeddings; others: other files that may hold
    embeddings, merged ones last; hdf5: files that are not read.

    proteins, nucleotides: FASTA files of the reading frames. names_in_doubt: whether ESM-2's rows outside
    `batches` may have the names of other rows: the fork's second version takes the names of what an
    interrupted run had computed from a set, in any order.
    """

    tool: Tool
    batches: list[Path]
    others: list[Path]
    hdf5: list[Path]
    proteins: list[Path]
    nucleotides: list[Path]
    names_in_doubt: bool
    chunk_length: int | None


def look_through(folder: Path) -> LegacyFolder:
    """Find the files. Links are not followed."""
    files = sorted(_files(folder))
    tensors = [path for path in files if path.suffix == ".pt"]
    batches = [path for path in tensors if _is_batch(path)]
    hdf5 = [path for path in files if path.suffix == ".h5"]
    second_version = bool(batches or hdf5) or any(
        path.name in ("sequence_index.json", "manifest.json") for path in files
    )
    others = [path for path in tensors if not _is_batch(path)]
    letters = [path for path in files if path.suffix in _LETTERS]
    state = folder / ".checkpoints" / "pipeline_state.json"
    return LegacyFolder(
        tool="fork" if second_version or state in files else "original",
        batches=batches,
        others=sorted(others, key=lambda path: "merged" in path.name),
        hdf5=hdf5,
        proteins=[path for path in letters if path.parent.name.endswith("_protein")],
        nucleotides=[path for path in letters if path.parent.name.endswith("_nucleotide")],
        names_in_doubt=second_version,
        chunk_length=_chunk_length(state if state in files else None, letters),
    )


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _is_batch(path: Path) -> bool:
    return re.fullmatch(r"batch_\d+\.pt", path.name) is not None and path.parent.name.startswith("shard_")


def _chunk_length(state: Path | None, letters: list[Path]) -> int | None:
    """The run's chunk length, if any file gives it."""
    if state is not None:
        try:
            length = read_small_json(state)["pipeline_config"]["expected_length"]
            if isinstance(length, int):
                return length
        except (OSError, ValueError, KeyError, TypeError):
            pass
    found = {int(match[1]) for path in letters if (match := re.search(r"_chunked(\d{1,6})$", path.stem))}
    return found.pop() if len(found) == 1 else None
