from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint
from virnucpro_backend.weights.formats.pickles import Inert, read_pickled


class Runs:
    """Makes a pickle that runs a command when it is read in the ordinary way."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, self.arguments


def test_nothing_in_a_hostile_file_is_run(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    content = {
        "model": {"weight": torch.ones(3)},
        "a": Runs(os.system, f"touch {victim}"),
        "b": Runs(eval, f"open({str(victim)!r}, 'w')"),
    }
    torch.save(content, tmp_path / "hostile.pt")
    read = read_pickled(tmp_path / "hostile.pt")
    assert not victim.exists()
    assert torch.equal(read["model"]["weight"], torch.ones(3))
    assert isinstance(read["a"], Inert)
    assert read["a"].qualified_name == f"{os.name}.system"
    torch.load(tmp_path / "hostile.pt", weights_only=False)
    assert victim.exists(), "the file is a real attack"


@pytest.mark.parametrize(
    "program",
    [
        b"cos\nsystem\n(S'touch VICTIM'\ntR.",  # GLOBAL, REDUCE
        b"(S'touch VICTIM'\nios\nsystem\n.",  # INST
        b"cbuiltins\ngetattr\n(cos\nsystem\nS'__call__'\ntR(S'touch VICTIM'\ntR.",
        b"ctorch._utils\n_rebuild_tensor_v2\n(cos\nsystem\nI0\n(I1\nt(I1\ntI00\nNtR.",
    ],
    ids=["reduce", "inst", "getattr", "storage"],
)
def test_no_opcode_runs_anything(tmp_path: Path, program: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("x/data.pkl", program)
    with contextlib.suppress(WeightsError):
        assert isinstance(read_pickled(tmp_path / "x.pt"), Inert)
    assert not (tmp_path / "VICTIM").exists()


def test_tensors_of_every_kind_are_read(tmp_path: Path) -> None:
    base = torch.arange(24, dtype=torch.float32).view(4, 6)
    content = {
        "strided": base.T[1:3],
        "shared": base[2],
        "half": torch.randn(5).half(),
        "bf16": torch.randn(5).bfloat16(),
        "long": torch.tensor([2**40]),
        "scalar": torch.tensor(3),
        "empty": torch.empty(0, 4),
        "parameter": torch.nn.Parameter(torch.randn(2)),
    }
    torch.save(content, tmp_path / "all.pt")
    read = read_pickled(tmp_path / "all.pt")
    for name, tensor in content.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name], tensor.detach())
    read["shared"].zero_()
    assert torch.equal(read_pickled(tmp_path / "all.pt")["shared"], base[2]), "the file itself stays as it is"


def test_files_of_before_pytorch_1_6_are_refused_with_the_way_to_convert_them(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    torch.save({"weight": torch.ones(3)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(WeightsError, match=r"convert"):
        open_checkpoint(path)
    torch.save(torch.load(path), path)
    assert torch.equal(open_checkpoint(path).tensors["weight"], torch.ones(3))


def test_torchscript_is_not_handed_to_its_loader(tmp_path: Path) -> None:
    """Its loader runs code in the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(torch.nn.Linear(2, 2)).save(tmp_path / "whole.pt")
    repack(tmp_path / "whole.pt", tmp_path / "script.pt", zipfile.ZIP_STORED)
    with pytest.raises(WeightsError, match=r"TorchScript"):
        open_checkpoint(tmp_path / "script.pt")


def test_tensors_are_never_mapped_from_compressed_bytes(tmp_path: Path) -> None:
    torch.save({"weight": torch.arange(50.0)}, tmp_path / "whole.pt")
    repack(tmp_path / "whole.pt", tmp_path / "stored.pt", zipfile.ZIP_STORED)
    assert torch.equal(open_checkpoint(tmp_path / "stored.pt").tensors["weight"], torch.arange(50.0))
    repack(tmp_path / "whole.pt", tmp_path / "packed.pt", zipfile.ZIP_DEFLATED)
    with pytest.raises(WeightsError, match=r"compressed"):
        open_checkpoint(tmp_path / "packed.pt")


def repack(source: Path, target: Path, compression: int) -> None:
    """Write the files in an archive into another, as somebody does who unpacks it and packs it again."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w", compression) as after:
        for name in before.namelist():
            after.writestr(name, before.read(name))


def test_damaged_files_are_refused_by_name(tmp_path: Path) -> None:
    torch.save({"weight": torch.randn(1000)}, tmp_path / "whole.pt")
    whole = (tmp_path / "whole.pt").read_bytes()
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.pt").write_bytes(whole[:length])
        with pytest.raises(WeightsError, match=r"cut\.pt"):
            open_checkpoint(tmp_path / "cut.pt")
    with pytest.raises(WeightsError, match=r"missing"):
        open_checkpoint(tmp_path / "none.pt")


READ_HOSTILE_FILES = """
import resource, sys
from pathlib import Path
from virnucpro_backend.legacy.files import RefusedFileError, read_legacy_file
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.formats.checkpoints import open_checkpoint
from virnucpro_backend.weights.formats.pickles import limited_reading
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sorted(Path(sys.argv[1]).iterdir()):
    for read in (open_checkpoint, lambda file: read_legacy_file(file, {"dnabert_s": 4, "esm2": 4})):
        try:
            with limited_reading(path):
                read(path)
            sys.exit(f"{path} was read")
        except (RefusedFileError, WeightsError):
            pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
def test_small_hostile_files_do_not_take_all_memory(tmp_path: Path) -> None:
    """One byte of a pickle makes a dict of 64 bytes; a safetensors header makes an object of each name."""
    program = b"\x80\x02" + b"}" * 40_000_000
    for name, compression in (("packed.pt", zipfile.ZIP_DEFLATED), ("stored.pt", zipfile.ZIP_STORED)):
        with zipfile.ZipFile(tmp_path / name, "w", compression) as archive:
            archive.writestr("x/data.pkl", program)
    (tmp_path / "deep.pt").write_bytes(b"\x80\x02" + b")" * 300_000 + b"\x85" * 300_000 + b".")
    entry = '"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},'
    header = "{" + "".join(entry % number for number in range(400_000))[:-1] + "}"
    (tmp_path / "header.safetensors").write_bytes(len(header).to_bytes(8, "little") + header.encode())
    outcome = subprocess.run(
        [sys.executable, "-c", READ_HOSTILE_FILES, tmp_path], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert int(outcome.stdout) < 400_000, "KiB beyond what the program itself takes"
