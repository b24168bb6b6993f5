"""Files are written atomically and can be read by the safetensors package."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from virnucpro_backend.safetensors_file import (
    make_real_folders,
    read_ordinary,
    sha256_of_file,
    write_safetensors,
)

ARRAYS = {
    "residues": np.frombuffer(b"MKVLA", np.uint8),
    "row": np.arange(3, dtype=np.uint32),
    "length": np.array([2**40], dtype=np.uint64),
    "embedding": np.arange(12, dtype=np.float16).reshape(3, 4).T,
    "big_endian": np.array([1, 2], dtype=">u4"),
    "empty": np.zeros((0, 7), dtype=np.float32),
}


def test_the_published_reader_gets_the_same_arrays_and_metadata(tmp_path: Path) -> None:
    path = tmp_path / "000000.safetensors"
    written = write_safetensors(path, ARRAYS, {"chunk_length": "500", "notice": "β"})
    data = path.read_bytes()
    assert written.size == len(data)
    assert written.sha256 == hashlib.sha256(data).hexdigest() == sha256_of_file(path)
    loaded = load_file(path)
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].shape == array.shape
    with safe_open(path, framework="np") as file:
        assert file.metadata() == {"chunk_length": "500", "notice": "β"}
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_bytes_do_not_depend_on_order_or_process(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from virnucpro_backend.safetensors_file import write_safetensors\n"
        "names = list('abcdefgh')[:: int(sys.argv[2])]\n"
        "arrays = {n: np.full(3, ord(n), 'u4' if n < 'd' else 'u1') for n in names}\n"
        "write_safetensors(Path(sys.argv[1]), arrays, dict.fromkeys(names, 'x'))\n"
    )
    hashes = set()
    for number, (seed, step) in enumerate([("1", "1"), ("2", "1"), ("3", "-1")]):
        path = tmp_path / f"{number}.safetensors"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(path), step], check=True, env=environment)
        hashes.add(sha256_of_file(path))
    assert len(hashes) == 1


def test_a_full_disk_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "000000.safetensors"
    write_safetensors(path, ARRAYS)
    before = path.read_bytes()

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_safetensors(path, {"row": np.arange(9)})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_dtype_that_safetensors_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="complex64"):
        write_safetensors(tmp_path / "x", {"z": np.zeros(1, np.complex64)})


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"mine")
    run = tmp_path / "run"
    run.mkdir()
    leftover = run / f"scores.safetensors.{os.getpid()}.tmp"
    leftover.symlink_to(secret)
    write_safetensors(run / "scores.safetensors", {"a": np.zeros(3, np.uint8)})
    (run / "linked").symlink_to(secret)
    (run / "work").symlink_to(tmp_path)
    os.mkfifo(run / "pipe")
    for name in ("linked", "pipe"):
        with pytest.raises(OSError, match="no ordinary file"):
            read_ordinary(run / name)
    with pytest.raises(OSError, match="no ordinary file"):
        make_real_folders(run / "work", run / "work" / "scores")
    assert secret.read_bytes() == b"mine"
    assert not (tmp_path / "scores").exists()


def test_folders_of_a_moved_run_are_not_made_again(tmp_path: Path) -> None:
    """The run's worker continues to write to the old place for a moment."""
    run = tmp_path / "run"
    with pytest.raises(FileNotFoundError):
        make_real_folders(run / "work", run / "work" / "scores")
    assert not run.exists()
