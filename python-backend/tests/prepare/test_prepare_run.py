"""Tests the prepare process from its job to its files, as the engine sees it."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import json
import lzma
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bad_inputs import zstd
from plain_definition import frames_of_sequence
from prepare_process import BACKEND, Outcome, prepare_job, run_line, run_prepare
from safetensors.numpy import load_file

from virnucpro_backend.prepare import parts
from virnucpro_backend.prepare.chunking import rounds_of
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.frames import FRAME_NAMES
from virnucpro_backend.prepare.preparation import Job, JobInput, Preparation


def sequences(seed: int, lengths: list[int], alphabet: str = "AAACCCCGGGGT") -> list[str]:
    random_ = random.Random(seed)
    return ["".join(random_.choices(alphabet, k=length)) for length in lengths]


def fasta(texts: list[str], width: int | None = 70, end: str = "\n") -> bytes:
    lines = []
    for i, text in enumerate(texts):
        lines.append(f">seq_{i} number {i}")
        step = width or max(1, len(text))
        lines += [text[j : j + step] for j in range(0, len(text), step)]
    return "".join(line + end for line in lines).encode()


def fastq(texts: list[str]) -> bytes:
    return "".join(
        f"@seq_{i} number {i}\n{text}\n+\n{'I' * len(text)}\n" for i, text in enumerate(texts)
    ).encode()


def expected_frames(texts: list[str], c: int) -> list[tuple[int, int, int, str, str]]:
    return [
        (row, frame.chunk, FRAME_NAMES.index(frame.name), frame.protein, frame.nucleotides)
        for row, text in enumerate(texts)
        for frame in frames_of_sequence(text, c)
    ]


def check_consistency(outcome: Outcome) -> None:
    """Check what must hold for any successful preparation."""
    assert outcome.status == 0
    done = outcome.last
    assert done["type"] == "done"
    records, frames = outcome.records(), outcome.frames()
    assert records["row"].tolist() == list(range(done["records"]))
    assert done["scorable_records"] + sum(done["not_scored"].values()) == done["records"]
    assert done["scorable_records"] == (records["reason"] == 0).sum()
    assert done["chunks"] == records["n_chunks"].sum()
    assert done["frames"] == len(frames) == records["n_frames"].sum()
    assert done["residues"] == sum(len(frame[3]) for frame in frames)
    assert frames == sorted(frames, key=lambda frame: frame[:3])
    rows = np.array([frame[0] for frame in frames], np.int64)
    assert np.bincount(rows, minlength=done["records"]).tolist() == records["n_frames"].tolist()
    assert not records["n_chunks"][records["reason"] != 0].any()
    assert all(done["not_scored"].values())
    part_events = outcome.of("part")
    assert [event["key"] for event in part_events] == [f"{i:06d}" for i in range(done["parts"])]
    for event in [*part_events, *outcome.of("records")]:
        content = (outcome.work_dir.parent / event["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == event["sha256"]
    for total in ("frames", "residues"):
        assert sum(event[total] for event in part_events) == done[total]
    assert len({frame[:2] for frame in frames}) == sum(event["chunks"] for event in part_events)
    assert sum(event["records"] for event in outcome.of("input_done")) == done["records"]
    assert not list(outcome.work_dir.rglob("*.tmp"))


LENGTHS = [1, 2, 3, 4, 149, 300, 499, 500, 501, 999, 1000, 1001, 1400, 2600, 12_345]


@pytest.mark.parametrize("c", [300, 500])
def test_records_and_parts_match_the_plain_definition(tmp_path: Path, c: int) -> None:
    texts = sequences(1, [*LENGTHS, 0, 77])
    texts[3] = "NNNN"
    texts[9] = texts[9].lower()
    texts[10] = texts[10][:100] + "RYSWKM-*.?" + texts[10][110:]
    stream = fasta(texts)
    path = tmp_path / "in put β.fa"
    path.write_bytes(stream)
    outcome = run_prepare(tmp_path / "run", [path], chunk_length=c, residues_per_part=500)
    check_consistency(outcome)
    assert outcome.frames() == expected_frames(texts, c)
    records = outcome.records()
    assert records["length"].tolist() == [len(text) for text in texts]
    assert outcome.headers() == [f"seq_{i} number {i}" for i in range(len(texts))]
    assert all(stream[offset : offset + 5] == b">seq_" for offset in records["byte_offset"].tolist())
    assert outcome.last["not_scored"] == {"empty": 1}
    problems = outcome.problems()
    assert problems[0, "empty"]["examples"] == [{"row": 15, "name": "seq_15", "detail": "0 letters"}]
    assert problems[0, "ambiguous_bases"]["count"] == 2
    assert problems[0, "lower_case"]["examples"][0]["row"] == 9
    assert outcome.of("input_done")[0]["sha256"] == hashlib.sha256(stream).hexdigest()
    assert outcome.of("input_done")[0]["bases"] == sum(map(len, texts))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip of several members": lambda data: b"".join(
        gzip.compress(data[i : i + 5000]) for i in range(0, len(data), 5000)
    ),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
    "zstd of two frames": lambda data: zstd.compress(data[:999]) + zstd.compress(data[999:]),
}


def test_every_format_compression_and_line_end_gives_the_same_parts(tmp_path: Path) -> None:
    texts = sequences(2, LENGTHS)
    forms = {
        "wrapped": fasta(texts),
        "endless": fasta(texts, None),
        "crlf": fasta(texts, 60, "\r\n"),
        "cr": fasta(texts, 80, "\r"),
        "bom": b"\xef\xbb\xbf" + fasta(texts),
        "fastq": fastq(texts),
    }
    parts_of: dict[str, dict[str, bytes]] = {}
    for i, (form, compression) in enumerate(
        [
            *((form, "plain") for form in forms),
            *(("wrapped", name) for name in COMPRESSIONS),
            ("fastq", "gzip"),
        ]
    ):
        # The format must be found by content, not by name.
        path = tmp_path / f"{i}.pdf"
        path.write_bytes(COMPRESSIONS[compression](forms[form]))
        outcome = run_prepare(tmp_path / f"run{i}", [path], residues_per_part=800)
        check_consistency(outcome)
        files = outcome.file_bytes()
        parts_of[f"{form} {compression}"] = {name: data for name, data in files.items() if "parts" in name}
    assert len(parts_of) == len(forms) + len(COMPRESSIONS)
    first = parts_of.pop("wrapped plain")
    assert len(first) > 8
    for name, files in parts_of.items():
        assert files == first, name


def test_several_inputs_with_bad_records_and_repeated_names(tmp_path: Path) -> None:
    good = sequences(4, [600, 600, 600])
    first = tmp_path / "first.fa"
    first.write_bytes(
        b"preface\n"
        b">a one\n" + good[0].encode() + b"\n>\n" + good[1].encode() + b"\n"
        b">a again\nAC\x00GT\n>empty\n\n>umlaut "
        + "ä".encode("latin-1")
        + b"\nACG\xc3\xa4TA\n>a\n"
        + good[2].encode()
    )
    second = tmp_path / "second.fq"
    second.write_bytes(
        b"@r1\nACGTACG\n+\nIIIIIII\n@bad\nACGT\n+\nII\n@r1 again\nACGTACG\n+\nIIIIIII\n@a\nGG\n+\nII\n"
    )
    outcome = run_prepare(tmp_path / "run", [first, second])
    check_consistency(outcome)
    records = outcome.records()
    assert records["reason"].tolist() == [0, 0, 2, 1, 2, 0, 0, 3, 0, 0]
    assert records["input"].tolist() == [0] * 6 + [1] * 4
    assert outcome.headers() == [
        "a one", "unnamed_2", "a again", "empty", "umlaut ä", "a", "r1", "bad", "r1 again", "a",
    ]  # fmt: skip
    assert outcome.last["not_scored"] == {"empty": 1, "invalid_characters": 2, "malformed_record": 1}
    assert [event["first_row"] for event in outcome.of("input_done")] == [0, 6]
    problems = outcome.problems()
    invalid = problems[0, "invalid_characters"]["examples"]
    assert [example["detail"] for example in invalid] == [
        "U+0000 in line 7, at letter 3",
        "U+00E4 in line 11, at letter 4",
    ]
    assert problems[0, "passed_over"]["count"] == 1
    [damaged] = problems[1, "malformed_record"]["examples"]
    assert (damaged["row"], damaged["name"]) == (7, "bad")
    assert damaged["detail"].startswith("4 letters but 2 quality values; line 5")
    # The second file's "a" repeats no name of its own file.
    repeated = [
        [(example["row"], example["name"]) for example in problems[source, "duplicate_ids"]["examples"]]
        for source in (0, 1)
    ]
    assert repeated == [[(2, "a"), (5, "a")], [(8, "r1")]]
    assert {frame[0] for frame in outcome.frames()} <= {0, 1, 5, 6, 8, 9}


def test_a_job_gives_the_same_bytes_after_a_killed_one(tmp_path: Path) -> None:
    path = tmp_path / "in.fa"
    path.write_bytes(fasta(sequences(5, [3000] * 300)))
    outcomes = []
    for name in ("a", "b"):
        for folder in ("parts", "records"):
            (tmp_path / name / "work" / folder).mkdir(parents=True)
            (tmp_path / name / "work" / folder / "000000.safetensors.77.tmp").write_bytes(b"half")
        outcomes.append(run_prepare(tmp_path / name, [path], residues_per_part=20_000))
        check_consistency(outcomes[-1])
    assert outcomes[0].file_bytes() == outcomes[1].file_bytes()
    timeless = [
        [event for event in outcome.events if event["type"] not in ("hello", "progress")]
        for outcome in outcomes
    ]
    for events in timeless:
        # Parts are reported by a separate thread; only their order among themselves is fixed.
        events.sort(key=lambda event: (event["type"], event.get("key", "")))
    assert timeless[0] == timeless[1]


def test_rounds_have_the_frames_of_all_files_in_order(tmp_path: Path) -> None:
    paths = [tmp_path / "contigs.fa", tmp_path / "reads.fa"]
    paths[0].write_bytes(fasta(sequences(5, [90_000, 0, *range(100, 20_000, 600)])))
    paths[1].write_bytes(fasta(sequences(6, [150] * 3000)))
    of_files = run_prepare(tmp_path / "files", paths, residues_per_part=1_000)
    runs = [
        run_prepare(tmp_path / name, paths, residues_per_part=1_000, order_seed=3)
        for name in ("once", "again")
    ]
    assert runs[0].file_bytes() == runs[1].file_bytes()
    outcome = runs[0]
    assert sorted(outcome.frames()) == of_files.frames()
    n_chunks = outcome.records()["n_chunks"].astype(np.int64)
    parts = outcome.of("part")
    assert {part["round"] for part in parts} == set(range(9))
    assert {part["round"] for part in of_files.of("part")} == {0}
    for part in parts:
        file = load_file(outcome.work_dir.parent / part["path"])
        row, chunk = file["row"].astype(np.int64), file["chunk"].astype(np.int64)
        assert list(zip(row, chunk, strict=True)) == sorted(zip(row, chunk, strict=True))
        assert (rounds_of(row, chunk, n_chunks[row], 3, 1 / 256) == part["round"]).all()
    # The first round covers all inputs, in parts of a quarter of the size, and of one chunk more.
    first = [part for part in parts if part["round"] == 0]
    assert len(first) > 1
    assert all(250 <= part["residues"] < 1_250 for part in first[:-1])
    assert first[0]["first_row"] < 1_000
    assert first[-1]["last_row"] > 2_000


@pytest.mark.parametrize("order_seed", [None, 3])
def test_an_added_input_has_parts_of_its_own_and_leaves_the_others_as_they_are(
    tmp_path: Path, order_seed: int | None
) -> None:
    paths = [tmp_path / f"{name}.fa" for name in "abc"]
    for seed, path in enumerate(paths):
        path.write_bytes(fasta(sequences(seed, [700 + 90 * i for i in range(12)])))

    def prepared(name: str, count: int, added_from: int) -> Outcome:
        cut = {"residues_per_part": 3000, "tail_parts": 4, "order_seed": order_seed}
        return run_prepare(tmp_path / name, paths[:count], added_from=added_from, **cut)

    before = prepared("before", 1, 1)
    added = prepared("added", 3, 1)
    parts = len(before.of("part"))
    assert added.of("part")[:parts] == before.of("part")
    together = prepared("together", 3, 3)
    assert sorted(added.frames()) == sorted(together.frames())
    assert together.of("part")[:parts] != before.of("part")
    begins = [event["first_row"] for event in added.of("input_done")]
    for event in added.of("part"):
        inputs = {sum(begin <= event[row] for begin in begins) for row in ("first_row", "last_row")}
        assert len(inputs) == 1


def test_the_first_part_is_reported_before_the_input_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "in.fa"
    path.write_bytes(fasta(sequences(6, [200_000] * 30)))
    outcome = run_prepare(tmp_path / "run", [path], residues_per_part=5000)
    kinds = [event["type"] for event in outcome.events]
    assert kinds.index("part") < kinds.index("input_done")


def test_an_unexpected_input_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.fa"
    path.write_bytes(fasta(sequences(7, [1000])))
    wrong = run_prepare(tmp_path / "wrong", [path], sha256="0" * 64)
    assert (wrong.status, wrong.last["code"]) == (1, "input_changed")
    right = run_prepare(tmp_path / "right", [path], sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    check_consistency(right)


def test_unreadable_files_and_unknown_commands_are_reported(tmp_path: Path) -> None:
    assert run_prepare(tmp_path / "a", [tmp_path / "missing.fa"]).last["code"] == "input_unreadable"
    assert run_prepare(tmp_path / "b", [tmp_path]).last["code"] == "input_unreadable"
    for line in ("nonsense", '{"type":"load"}', '{"type":"prepare","inputs":3}'):
        outcome = run_line(tmp_path, line)
        assert (outcome.status, outcome.last["code"], outcome.last["input"]) == (1, "protocol_version", None)


def preparation(tmp_path: Path, events: list[str]) -> Preparation:
    path = tmp_path / "in.fa"
    path.write_bytes(fasta(sequences(8, [3000] * 20)))
    job = Job((JobInput(0, path, None),), tmp_path / "work", 500, 3000, 0, None)
    return Preparation(job, lambda type, **_: events.append(type))


def test_a_full_disk_and_a_missing_folder_have_different_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    run = preparation(tmp_path, events)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(parts, "write_safetensors", full)
        with pytest.raises(PrepareError) as caught:
            run.run()
    assert caught.value.code == "disk_full"
    assert "part" not in events
    assert "done" not in events

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "work").write_bytes(b"a file where the folder should be")
    with pytest.raises(PrepareError) as caught:
        preparation(tmp_path / "elsewhere", []).run()
    assert caught.value.code == "folder_unwritable"


def test_the_process_ends_immediately_when_standard_input_closes(tmp_path: Path) -> None:
    fifo = tmp_path / "endless.fa"
    os.mkfifo(fifo)
    command = [sys.executable, "-u", "-m", "virnucpro_backend.prepare"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(prepare_job(tmp_path / "work", [fifo])).encode() + b"\n")
        process.stdin.flush()
        with open(fifo, "wb") as writer:  # This opens only when the process has begun to read.
            writer.write(b">a\n")
            writer.flush()
            process.stdin.close()
            # The input has not ended, so the process would read forever if standard input stayed open.
            process.wait(timeout=60)


def test_a_single_line_of_300_mb_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "line.fa"
    piece = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(9).integers(0, 4, 3_000_000)].tobytes()
    with open(path, "wb") as file:
        file.write(b">one\n")
        for _ in range(100):
            file.write(piece)
    outcome = run_prepare(tmp_path / "run", [path], order_seed=0)
    assert outcome.status == 0
    assert (outcome.last["records"], outcome.last["chunks"]) == (1, 600_000)
    assert outcome.last["frames"] > 500
    assert 0 < outcome.max_rss < 200e6


def test_prepare_needs_no_torch() -> None:
    code = "import sys, virnucpro_backend.prepare.preparation as _; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=BACKEND).strip() == b"False"
