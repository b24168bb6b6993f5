from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_parts import random_frames, write_part_file

from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.safetensors_file import write_safetensors


def test_a_range_has_the_same_frames_as_the_part(tmp_path: Path) -> None:
    file = write_part_file(tmp_path / "000000.safetensors", random_frames(40, seed=1))
    whole = read_part(file.path, file.sha256, 0, 40)
    np.testing.assert_array_equal(whole.residues, file.frames.residues)
    np.testing.assert_array_equal(whole.nucleotide_offsets, file.frames.nucleotide_offsets)
    part, same = read_part(file.path, file.sha256, 7, 19), whole.subset(np.arange(7, 19))
    assert part.count == 12
    assert part.residue_offsets[0] == part.nucleotide_offsets[0] == 0
    for name in ("residues", "residue_offsets", "nucleotides", "nucleotide_offsets"):
        np.testing.assert_array_equal(getattr(part, name), getattr(same, name))
    assert read_part(file.path, file.sha256, 40, 40).count == 0


@pytest.mark.parametrize("damage", ["missing", "changed", "cut", "beyond", "offsets", "other"])
def test_a_file_that_is_not_the_part_is_refused(tmp_path: Path, damage: str) -> None:
    path, frames = tmp_path / "000003.safetensors", random_frames(5, seed=2)
    file = write_part_file(path, frames)
    content, sha256, end = path.read_bytes(), file.sha256, 5
    if damage == "missing":
        path.unlink()
    elif damage == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "cut":
        path.write_bytes(content[:-10])
    elif damage == "beyond":
        end = 6
    elif damage == "offsets":
        frames.residue_offsets[-1] += 1
        sha256 = write_part_file(path, frames).sha256
    else:
        sha256 = write_safetensors(path, {"score1": np.zeros(5, dtype=np.float32)}).sha256
    with pytest.raises(PartFailedError, match=r"000003\.safetensors can't be used") as failure:
        read_part(path, sha256, 0, end)
    assert failure.value.code == "part_unreadable"
