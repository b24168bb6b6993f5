"""The benchmark of processors: what the processes that measure say to the one that started them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from benchmarks import cpu


def test_a_library_that_prints_while_it_is_made_ready_fails_no_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As torch.onnx.export does, on the standard output that carries the row's answers."""

    def talkative(*_: object) -> object:
        print("[torch.onnx] Obtain model graph for EsmModel ...")
        return lambda: {"per_second": 1.0}

    monkeypatch.setattr(cpu, "_hugging_face", talkative)
    monkeypatch.setattr("sys.stdin", io.StringIO("go\ngo\n"))
    cpu._row("onnx_runtime2:fp32", Path("unused"))
    ready, done, answer = capsys.readouterr().out.splitlines()
    assert (ready, done) == ("ready", "done")
    assert json.loads(answer)["per_second"] == 1.0
