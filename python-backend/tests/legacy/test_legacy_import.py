"""Tests which embeddings of the original tool and its fork are imported or refused, and their scores."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from made_folders import DEMO_MODEL, LegacyRun

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2Config
from virnucpro_backend.inference.imported import ImportedEmbeddings, vectors_path
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.legacy.importing import (
    LONGEST_FRAME,
    ImportFailedError,
    ImportReport,
    import_folder,
)
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.weights.model_folder import load_model
from virnucpro_backend.weights.model_json import NormBand, read_model_json

ORIGINAL_RUN = Path(__file__).parents[1] / "data" / "original_run"
WIDTHS = {"dnabert_s": 64, "esm2": 64}


@pytest.fixture(scope="module")
def scorer() -> PartScorer:
    torch.set_num_threads(1)
    model = load_model(DEMO_MODEL, "cpu", "fp32")
    return PartScorer(model, 2048, True, "fp32", lambda _device: model)


@pytest.fixture
def run(tmp_path: Path, scorer: PartScorer) -> LegacyRun:
    return LegacyRun(tmp_path / "earlier", scorer)


@pytest.fixture
def take(run: LegacyRun, tmp_path: Path) -> Callable[..., ImportReport]:
    def take_over(bands: dict[str, NormBand] | None = None, chunk_length: int = 300) -> ImportReport:
        model = dataclasses.replace(read_model_json(DEMO_MODEL), norm_bands=bands)
        return import_folder(run.folder, [run.input], chunk_length, model, tmp_path / "work" / "imported")

    return take_over


def with_import(scorer: PartScorer, folder: Path, report: ImportReport) -> PartScorer:
    imported = ImportedEmbeddings(folder, report.index_sha256, WIDTHS)  # type: ignore[arg-type]
    return dataclasses.replace(scorer, imported=imported)


def why(report: ImportReport) -> str:
    [refused] = report.refused
    return refused.why


def test_a_run_of_the_original_is_imported_and_scores_the_same(
    run: LegacyRun, take: Callable[..., ImportReport], scorer: PartScorer, tmp_path: Path
) -> None:
    run.write_frames()
    run.write_dnabert_s()
    run.write_esm2(slice(0, -9))
    report = take()
    count = len(run.names)
    assert (report.tool, report.frames, report.frames_dnabert_s) == ("original", count, count)
    assert count - 9 <= report.frames_esm2 < count
    assert (report.files_used, report.files_refused, report.precision) == (2, 0, None)

    importing = with_import(scorer, tmp_path / "work" / "imported", report)
    part = importing.prepare(run.frames)
    assert part.esm2.tokens < scorer.prepare(run.frames).esm2.tokens / 2
    scores = importing.score(run.frames)
    np.testing.assert_allclose(scores.score2, run.scores.score2, atol=2e-6)
    assert importing.imported is not None


def test_rows_with_wrong_names_are_detected_while_scoring(
    run: LegacyRun, take: Callable[..., ImportReport], scorer: PartScorer, tmp_path: Path
) -> None:
    """No check of names and sizes can detect this; then all embeddings are computed, with correct scores."""
    run.write_esm2(vectors=np.roll(run.esm2, 1, axis=0))
    importing = with_import(scorer, tmp_path / "work" / "imported", take())
    launched = importing.launch(importing.prepare(run.frames))
    assert launched.imported_differ()
    assert importing.needs_recomputation(launched)
    assert importing.score(run.frames).score2.tobytes() == run.scores.score2.tobytes()
    assert importing.imported is None


def test_a_damaged_vector_is_computed_again(
    run: LegacyRun, take: Callable[..., ImportReport], scorer: PartScorer, tmp_path: Path
) -> None:
    run.write_esm2()
    report, folder = take(), tmp_path / "work" / "imported"
    frames = run.frames
    before = with_import(scorer, folder, report).prepare(frames).esm2.imported
    content = bytearray(vectors_path(folder, "esm2").read_bytes())
    content[5] ^= 4
    vectors_path(folder, "esm2").write_bytes(content)
    after = with_import(scorer, folder, report).prepare(frames).esm2.imported
    assert before is not None
    assert after is not None
    assert len(after.places) == len(before.places) - 1
    vectors_path(folder, "esm2").write_bytes(content[:-1])
    with pytest.raises(ValueError, match="as long as"):
        with_import(scorer, folder, report)


def test_only_batch_files_of_a_resumed_run_of_the_fork_are_used(
    run: LegacyRun, take: Callable[..., ImportReport]
) -> None:
    """Its ESM-2 file has wrong names and DNABERT-S's file name; a batch repeats rows of the first."""
    run.write_dnabert_s()
    run.write_esm2(vectors=np.roll(run.esm2, 3, axis=0), name="output_1_DNABERT.pt", version="1.0")
    run.write_batch(0, slice(0, 8))
    run.write_batch(1, slice(4, 14), extra_name="read3_chunk_1F1_LOST")
    report = take()
    assert (report.tool, report.precision, report.files_used) == ("fork", "torch.bfloat16", 3)
    assert 0 < report.frames_esm2 <= 14
    assert report.frames_dnabert_s == len(run.names)
    assert "names of others" in why(report)


def test_unusable_files_are_refused(run: LegacyRun, take: Callable[..., ImportReport]) -> None:
    """Each is beside an intact file, which is still used."""
    run.write_merged()
    path = run.write_esm2()
    sound = path.read_bytes()

    path.write_bytes(sound[: len(sound) // 2])
    assert "cut short" in why(take())
    torch.save({"state_dict": {}}, path)
    assert "no embeddings of VirNucPro" in why(take())
    torch.save([1, 2], path)
    assert "no embeddings" in why(take())
    run.write_esm2(vectors=run.esm2[:, :60])
    assert "each should have 64" in why(take())
    run.write_esm2(version="2.0")
    assert "2.0" in why(take())
    torch.save({"proteins": run.names[:3], "data": [torch.zeros(64)]}, path)
    assert "3 names" in why(take())
    torch.save({"proteins": ["somebody_chunk_1F1"], "data": [torch.ones(64)]}, path)
    assert "somebody_chunk_1F1 is not a reading frame" in why(take())
    run.write_esm2(vectors=run.esm2 * np.float32(np.nan))
    assert "no row" in why(take())


def test_single_rows_are_left_out_but_never_for_their_norm(
    run: LegacyRun, take: Callable[..., ImportReport]
) -> None:
    """Short and repetitive frames may be outside the norms that a model's description expects."""
    broken = run.esm2.copy()
    broken[2, 5] = np.nan
    broken[3] = 0
    run.write_esm2(vectors=broken)
    report = take({"esm2": NormBand(1e6, 2e6), "dnabert_s": NormBand(1e6, 2e6)})
    assert (report.files_used, report.files_refused, report.rows_left_out) == (1, 0, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among its files")
@pytest.mark.parametrize("state", ["[" * 200_000, "pipe", "link"], ids=["deep", "pipe", "link"])
def test_an_invalid_state_file_is_not_read(
    state: str, run: LegacyRun, take: Callable[..., ImportReport]
) -> None:
    run.write_esm2()
    path = run.folder / ".checkpoints" / "pipeline_state.json"
    path.parent.mkdir()
    if state == "pipe":
        os.mkfifo(path)
    elif state == "link":
        path.symlink_to("/dev/zero")
    else:
        path.write_text(state)
    assert take().files_used == 1


def test_an_endless_line_is_refused(
    run: LegacyRun, take: Callable[..., ImportReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    run.write_esm2()
    run.write_frames()
    read = 0

    def endless(file: InputFile) -> Iterator[bytes]:
        nonlocal read
        if file.path == run.input:
            yield file.path.read_bytes()
            return
        while read < 10 * LONGEST_FRAME:
            read += LONGEST_FRAME // 2
            yield b"A" * (LONGEST_FRAME // 2)

    monkeypatch.setattr(InputFile, "blocks", endless)
    with pytest.raises(ImportFailedError):
        take()
    assert read <= 2 * LONGEST_FRAME


def test_unusable_folders_are_refused(
    run: LegacyRun, take: Callable[..., ImportReport], tmp_path: Path
) -> None:
    with pytest.raises(ImportFailedError, match="holds no embeddings"):
        take()
    path = run.write_esm2()
    path.write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(ImportFailedError, match="None of the embeddings"):
        take()
    run.write_esm2()
    run.write_chunks(500)
    with pytest.raises(ImportFailedError, match="chunks of 500 bases, and not of 300"):
        take()
    run.write_frames()
    run.input.write_text(run.input.read_text().replace("A", "C", 40))
    with pytest.raises(ImportFailedError, match="made from other sequences"):
        take(chunk_length=500)


def test_a_name_shared_by_two_records_is_ambiguous(run: LegacyRun, take: Callable[..., ImportReport]) -> None:
    run.write_esm2()
    every = take()
    assert every.frames_esm2 == every.frames
    # Add a second record with the name of one that has frames.
    name = run.names[0].partition("_")[0]
    run.input.write_text(f"{run.input.read_text()}>{name}\n{'ACG' * 20}\n")
    assert take().frames_esm2 < every.frames_esm2


def test_a_real_run_of_the_original_is_imported(tmp_path: Path) -> None:
    """It has four reading frames with the published weights, with the sizes and norms of the real models."""
    folder = tmp_path / "real"
    for kind, file in (("protein", "output_1_ESM.pt"), ("nucleotide", "output_1_DNABERT_S.pt")):
        (folder / f"x_{kind}").mkdir(parents=True)
        shutil.copy(ORIGINAL_RUN / file, folder / f"x_{kind}")
    shutil.copy(ORIGINAL_RUN / "test_with_orfs_identified_protein.faa", folder / "x_protein" / "output_1.fa")
    shutil.copy(ORIGINAL_RUN / "test_with_orfs_identified_nucleotide.fa", folder / "x_nucleotide")
    model = dataclasses.replace(
        read_model_json(DEMO_MODEL),
        esm2=Esm2Config(layers=36, width=2560, heads=40, feed_forward=10240),
        dnabert_s=DnabertSConfig(layers=12, width=768, heads=12, feed_forward=3072, vocabulary=4096),
        norm_bands={"esm2": NormBand(12, 16), "dnabert_s": NormBand(2, 5)},
    )
    report = import_folder(folder, [ORIGINAL_RUN / "test_with_orfs.fa"], 500, model, tmp_path / "imported")
    assert (report.frames, report.frames_esm2, report.frames_dnabert_s) == (4, 4, 4)
    assert (report.files_used, report.files_refused, report.rows_left_out) == (2, 0, 0)
    merged = torch.load(ORIGINAL_RUN / "output_1_merged.pt", weights_only=True)["data"].numpy()
    vectors = np.fromfile(vectors_path(tmp_path / "imported", "esm2"), "<f4").reshape(4, 2560)
    # The original writes proteins and nucleotides in different orders.
    assert sorted(vector.tobytes() for vector in vectors) == sorted(row.tobytes() for row in merged[:, 768:])
