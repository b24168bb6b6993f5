"""Reading that was cut off goes on at the last place announced, to the same files and the same counts."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prepare_process import validator

from virnucpro_backend.prepare import input_file, parts
from virnucpro_backend.prepare.failures import FailureCode, PrepareError
from virnucpro_backend.prepare.job import parse_job
from virnucpro_backend.prepare.preparation import Preparation
from virnucpro_backend.prepare.records import record_files
from virnucpro_backend.prepare.records.headers import RepeatedIdentifiers

Event = dict[str, Any]


@pytest.fixture(autouse=True)
def many_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "BLOCK_BYTES", 700)
    monkeypatch.setattr(record_files, "RECORDS_PER_FILE", 9)
    monkeypatch.setattr(parts, "MOST_FRAMES", 40)


@dataclass
class Outcome:
    work_dir: Path
    events: list[Event]

    def lasting(self) -> list[Event]:
        """All that is stored of it; parts, which come from a thread of their own, first."""
        lasting = [event for event in self.events if event["type"] not in ("progress", "place")]
        return sorted(lasting, key=lambda event: bool(event["type"] != "part"))

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.work_dir)): path.read_bytes()
            for path in self.work_dir.rglob("*.safetensors")
        }

    def places(self) -> Iterator[tuple[int, Event]]:
        return (
            (number, event["place"]) for number, event in enumerate(self.events) if event["type"] == "place"
        )


def job(work_dir: Path, paths: list[Path], go_on_from: Event | None = None) -> Event:
    command = {
        "type": "prepare",
        "inputs": [
            {"input": 2 * i, "path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for i, path in enumerate(paths)
        ],
        "work_dir": str(work_dir),
        "chunk_length": 300,
        "residues_per_part": 900,
        "tail_parts": 4,
        "go_on_from": go_on_from,
    }
    validator("prepare-command").validate(command)
    return command


def prepare(command: Event) -> Outcome:
    events: list[Event] = []
    work_dir = Path(command["work_dir"])
    work_dir.mkdir(parents=True, exist_ok=True)

    def emit(type: str, **fields: object) -> None:
        event = json.loads(json.dumps({"type": type, **fields}))
        validator("prepare-event").validate(event)
        events.append(event)

    Preparation(parse_job(command), emit).run()
    return Outcome(work_dir, events)


def record_files_before(outcome: Outcome, number: int) -> list[Event]:
    return [
        {name: event[name] for name in ("path", "sha256", "first_row", "count")}
        for event in outcome.events[:number]
        if event["type"] == "records"
    ]


def go_on(outcome: Outcome, number: int, place: Event, paths: list[Path], work_dir: Path) -> Outcome:
    """In a folder with what stood on disk when that place was announced."""
    for event in outcome.events[:number]:
        if event["type"] in ("records", "part"):
            file = work_dir.parent / event["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(outcome.work_dir.parent / event["path"], file)
    known = record_files_before(outcome, number)
    return prepare(job(work_dir, paths, {"place": place, "record_files": known}))


def random_fasta(random_: random.Random) -> bytes:
    end = random_.choice(["\n", "\r\n", "\r"])
    lines = ["", "; a comment ahead"] if random_.random() < 0.3 else []
    if random_.random() < 0.2:
        lines.append("text before")
    for i in range(random_.randint(1, 60)):
        name = f"name_{random_.randrange(40)}" if random_.random() < 0.5 else f"name_{i}"
        lines.append(f">{name} {'x' * random_.choice([0, 5, 5, 900])}é")
        letters = random_.choice(["ACGT", "ACGT", "ACGTN", "acgt", "ACGU", "ACG\x01"])
        length = random_.choice([0, 20, 150, 299, 700, 4_000])
        text = "".join(random_.choices(letters, k=length))
        width = random_.choice([60, 10_000])
        for at in range(0, length, width):
            lines.append(text[at : at + width])
            if random_.random() < 0.1:
                lines.append("# a comment")
    return end.join(lines).encode() + (end.encode() if random_.random() < 0.5 else b"")


def random_fastq(random_: random.Random) -> bytes:
    end = random_.choice(["\n", "\r\n"])
    lines = []
    for i in range(random_.randint(1, 80)):
        text = "".join(random_.choices("ACGTN", k=random_.choice([30, 150, 700])))
        quality = "".join(random_.choices("@+IJ", k=len(text)))
        damage = random_.random()
        if damage < 0.05:
            quality = quality[1:]
        lines += [f"@read_{random_.randrange(100)} {i}"]
        if damage > 0.9:
            half = len(text) // 2
            lines += [text[:half], text[half:], "+", quality[:half], quality[half:]]
        else:
            lines += [text, "+", quality]
        if 0.05 < damage < 0.08:
            lines.append("something else")
    return end.join(lines).encode() + end.encode()


def random_inputs(random_: random.Random, folder: Path) -> list[Path]:
    paths = []
    for number in range(random_.choice([1, 1, 2, 4])):
        data = random_.choice([random_fasta, random_fasta, random_fastq])(random_)
        pack = random_.choice([bytes, bytes, gzip.compress, bz2.compress])
        paths.append(folder / f"input_{number}")
        paths[-1].write_bytes(pack(data))
    return paths


@pytest.mark.parametrize("seed", range(40))
def test_from_every_place_the_rest_is_the_same_byte_for_byte(tmp_path: Path, seed: int) -> None:
    random_ = random.Random(seed)
    paths = random_inputs(random_, tmp_path)
    whole = prepare(job(tmp_path / "whole" / "work", paths))
    for number, place in whole.places():
        before = whole.events[:number]
        parts_before = sum(event["type"] == "part" for event in before)
        assert place["parts"] <= parts_before
        again = go_on(whole, number, place, paths, tmp_path / str(number) / "work")
        assert again.lasting() == [
            event
            for event in whole.lasting()
            # What lies behind the place comes again, where it had come already.
            if (event["type"] == "part" and int(event["key"]) >= place["parts"])
            or event.get("input", -1) >= place["input"]
            or (event["type"] != "part" and event not in before)
        ]
        assert again.files() == whole.files()
        later = [other for _, other in whole.places() if other["row"] > place["row"]]
        assert [other for _, other in again.places()][-1:] == later[-1:]


def test_places_are_announced_as_files_are_finished(tmp_path: Path) -> None:
    path = tmp_path / "reads.fa"
    path.write_text("".join(f">r{i}\n{'ACGTTGCA' * 12}\n" for i in range(400)))
    whole = prepare(job(tmp_path / "work", [path]))
    rows = [place["row"] for _, place in whole.places()]
    assert rows == sorted(rows)
    # What is read again is little: a file of records, the parts that are held back, and a block.
    assert rows[-1] > 400 - 60
    assert len(rows) > 20


@pytest.fixture
def cut_off(tmp_path: Path) -> tuple[Outcome, int, Event, list[Path]]:
    paths = [tmp_path / "a.fa", tmp_path / "b.fa"]
    for path in paths:
        path.write_text("".join(f">r{i}\n{'ACGTTGCA' * 12}\n" for i in range(100)))
    whole = prepare(job(tmp_path / "whole" / "work", paths))
    number, place = [*whole.places()][-3]
    assert place["input"] == 2
    return whole, number, place, paths


@pytest.mark.parametrize("damage", ["missing", "changed", "one too few", "another input"])
def test_what_is_not_as_it_was_is_read_from_the_beginning(
    tmp_path: Path, cut_off: tuple[Outcome, int, Event, list[Path]], damage: str
) -> None:
    whole, number, place, paths = cut_off
    work_dir = tmp_path / "again" / "work"
    shutil.copytree(whole.work_dir, work_dir)
    known = record_files_before(whole, number)
    file = work_dir / "records" / "000001.safetensors"
    if damage == "missing":
        file.unlink()
    elif damage == "changed":
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    elif damage == "one too few":
        known.pop()
    else:
        place = {**place, "input": 7}
    again = prepare(job(work_dir, paths, {"place": place, "record_files": known}))
    assert again.lasting() == whole.lasting()
    assert again.files() == whole.files()


@pytest.mark.parametrize("changed", [0, 1])
def test_an_input_that_changed_before_the_place_is_noticed(
    tmp_path: Path, cut_off: tuple[Outcome, int, Event, list[Path]], changed: int
) -> None:
    whole, number, place, paths = cut_off
    known = record_files_before(whole, number)
    command = job(whole.work_dir, paths, {"place": place, "record_files": known})
    text = paths[changed].read_bytes()
    paths[changed].write_bytes(text.replace(b"ACGT", b"ACGA", 1))
    events: list[Event] = []
    preparation = Preparation(parse_job(command), lambda type, **fields: events.append({"type": type}))
    with pytest.raises(PrepareError) as refused:
        preparation.run()
    assert refused.value.code == FailureCode.INPUT_CHANGED
    assert preparation.current_input == 2 * changed
    assert "done" not in [event["type"] for event in events]


def test_identifiers_before_the_place_are_compared_up_to_the_limit() -> None:
    hashes = np.array([5, 6, 5, 7, 6, 8, 5], np.uint64)
    for limit in range(9):
        whole = RepeatedIdentifiers(limit)
        whole.add(hashes)
        for split in range(8):
            parted = RepeatedIdentifiers(limit, split)
            parted.add(hashes[split:])
            earlier = [hashes[: split // 2], hashes[split // 2 : split]]
            assert parted.rows(earlier).tolist() == whole.rows().tolist()
            assert parted.not_compared == whole.not_compared
