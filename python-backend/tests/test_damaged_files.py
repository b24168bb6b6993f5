"""Damages files at random and reads them: each reader must return a result or raise its own error."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.legacy.files import RefusedFileError, read_legacy_file
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.survey import Survey

TOKENS = (b">", b"@", b"+", b"\n", b"\r", b"\0", b"\xff", b"PK", b"{}", b"[1e999]", b"\x80\x02", b"nan")
FASTA = b">one two\nACGTACGTNN\nacgt\n>two\n\n>three\n" + b"ACGT" * 50 + b"\n"
FASTQ = b"@one\nACGT\n+\nIIII\n@two\nACGTAC\n+two\n@@@@@@\n"
PART = safetensors.numpy.save(
    {
        "residues": np.frombuffer(b"MKLV", np.uint8),
        "residue_offsets": np.array([0, 2, 4], np.uint32),
        "nucleotides": np.frombuffer(b"ATGAAACTGGTT", np.uint8),
        "nucleotide_offsets": np.array([0, 6, 12], np.uint32),
    }
)


def legacy_files() -> list[bytes]:
    names, rows = ["a_chunk_1F1", "a_chunk_1F2"], torch.ones(2, 4)
    return [
        saved({"nucleotide": names, "data": [{"label": n, "mean_representation": [1.0] * 4} for n in names]}),
        saved({"proteins": names, "data": list(rows)}),
        saved({"ids": names, "data": torch.ones(2, 8)}),
        saved({"sequence_ids": names, "embeddings": rows.numpy(), "metadata": {"model_dtype": "bf16"}}),
    ]


def saved(content: object) -> bytes:
    """Return the bytes that `torch.save` writes."""
    file = io.BytesIO()
    torch.save(content, file, pickle_protocol=4)
    return file.getvalue()


def read_input(path: Path) -> None:
    """Read a sequence file to its end."""
    with suppress(PrepareError), InputFile(path) as file:
        for group in Survey(path.parent).groups(file):
            assert len(group.reason) == len(group.headers.counts)


def read_part_file(path: Path) -> None:
    """Read a part, with the right hash, since otherwise nothing else would be checked."""
    with suppress(PartFailedError):
        read_part(path, hashlib.sha256(path.read_bytes()).hexdigest(), 0, 2)


def read_embeddings(path: Path) -> None:
    """Read a file of the original tool."""
    with suppress(RefusedFileError):
        file = read_legacy_file(path, {"dnabert_s": 4, "esm2": 4})
        assert all(len(vectors) == len(file.ids) for vectors in file.vectors.values())


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Flip, remove, duplicate or insert a few bytes."""
    text = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(text) + 1), chance.randint(1, 24)
        match chance.randrange(5):
            case 0 if at < len(text):
                text[at] ^= 1 << chance.randrange(8)
            case 1:
                del text[at : at + size]
            case 2:
                text[at:at] = text[at : at + size]
            case 3:
                text[at:at] = chance.choice(TOKENS)
            case _:
                text[at : at + size] = chance.randbytes(size)
    return bytes(text)


def test_readers_handle_any_damage(tmp_path: Path) -> None:
    path, chance = tmp_path / "damaged", random.Random(20_261_122)
    readers: list[tuple[Callable[[Path], None], list[bytes]]] = [
        (read_input, [FASTA, FASTQ, gzip.compress(FASTA), gzip.compress(FASTQ)]),
        (read_part_file, [PART]),
        (read_embeddings, legacy_files()),
    ]
    for _ in range(40):
        for read, contents in readers:
            for content in contents:
                path.write_bytes(damaged(content, chance))
                read(path)
