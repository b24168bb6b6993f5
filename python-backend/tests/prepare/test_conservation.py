"""Every byte of an input belongs to a used record, a damaged one, one left out, or a stretch passed over."""

from __future__ import annotations

import bz2
import gzip
import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from virnucpro_backend.prepare import input_file
from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.records.survey import Survey
from virnucpro_backend.prepare.scanning import fastq

QUALITIES = "!#+@IJ~;>"
MARKS = ["\ufeff", "\x1a", "\x00", "\u200b"]


class Read(NamedTuple):
    name: str
    letters: str


@dataclass
class Made:
    """A made-up file. whole: its undamaged records in order; wounded: those that may be used or not."""

    text: str = ""
    whole: list[Read] = field(default_factory=list)
    wounded: list[Read] = field(default_factory=list)


@dataclass
class Seen:
    """What the program made of a file: its used records, and the share of each byte."""

    used: list[Read]
    records: int
    bytes: dict[str, int]


def seen(path: Path) -> Seen:
    used: list[Read] = []
    with InputFile(path) as source, tempfile.TemporaryDirectory() as spool:
        survey = Survey(Path(spool))
        for group in survey.groups(source):
            letters = (
                group.records.letters.read(0, int(group.records.lengths.sum())).tobytes().decode("latin-1")
            )
            names = group.headers.offsets.tolist()
            places = offsets_of(group.records.lengths).tolist()
            for i, reason in enumerate(group.reason.tolist()):
                if reason == Reason.OK:
                    name = group.headers.text[names[i] : names[i + 1]].decode()
                    used.append(Read(name, letters[places[i] : places[i + 1]]))
    return Seen(used, survey.records, survey.bytes)


def wrapped(text: str, width: int) -> list[str]:
    return [text[i : i + width] for i in range(0, max(1, len(text)), width)]


def made(dice: random.Random, sequence_format: str, damages: bool, first_too: bool) -> Made:
    """Make a file of up to nine records; damage one in three if `damages`, the first only if `first_too`."""
    file = Made()
    ends = dice.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])
    widths = dice.choice([[10**9], [7], [60], [7, 60, 10**9]])
    marked = dice.random() < 0.2
    lines: list[str] = []
    for number in range(dice.randrange(1, 10)):
        read = Read(f"r{number} x", "".join(dice.choices("ACGTN", k=dice.choice([1, 2, 30, 60, 61, 151]))))
        record = (fasta_lines if sequence_format == "fasta" else fastq_lines)(dice, read, widths)
        # Two damages beside each other can make up for each other: four letters too many, and four values.
        is_alone = not file.wounded or file.wounded[-1].name != f"r{number - 1} x"
        if damages and is_alone and dice.random() < 0.4 and (number > 0 or first_too):
            file.wounded.append(read)
            if sequence_format == "fasta":
                damage_fasta(dice, record)
            else:
                behind = damage_fastq(dice, record)
                if behind and widths != [10**9] and file.whole and file.whole[-1].name == f"r{number - 1} x":
                    # It cannot be told from a line of quality too many.
                    file.wounded.insert(-1, file.whole.pop())
        else:
            file.whole.append(read)
        lines += record
    for place, line in enumerate(lines):
        mark = dice.choice(MARKS) if marked and dice.random() < 0.2 else ""
        shown = mark + line if dice.random() < 0.5 else line + mark
        file.text += shown + (
            "" if line.endswith("\0cut") else dice.choice(ends) if place < len(lines) - 1 else ""
        )
    file.text = file.text.replace("\0cut", "") + dice.choice(["", ends[0]])
    return file


def fasta_lines(dice: random.Random, read: Read, widths: list[int]) -> list[str]:
    return [f">{read.name}", *wrapped(read.letters, dice.choice(widths))]


def fastq_lines(dice: random.Random, read: Read, widths: list[int]) -> list[str]:
    quality = "".join(dice.choices(QUALITIES, k=len(read.letters)))
    plus = dice.choice(["+", f"+{read.name}"])
    return [
        f"@{read.name}",
        *wrapped(read.letters, dice.choice(widths)),
        plus,
        *wrapped(quality, dice.choice(widths)),
    ]


def damage_fasta(dice: random.Random, record: list[str]) -> None:
    match dice.randrange(4):
        case 0:  # A header whose line end is missing before it.
            record.append("ACGT\0cut")
            record.append(f">glued{dice.random()}")
            record.append("ACGT")
        case 1:
            record.insert(
                dice.randrange(1, len(record) + 1), dice.choice(["&gt;b", "  >b", "40 40 38", "1 acgt"])
            )
        case 2:
            record[-1] += dice.choice("=_|:/0@+") + "A"
        case 3:
            record[1] = record[1][:1] + dice.choice("\x00\x07é") + record[1][1:] + "A"


def damage_fastq(dice: random.Random, record: list[str]) -> bool:
    """Damage a record; return whether what is left of it doesn't begin with its header."""
    match dice.randrange(5):
        case 0:
            place = dice.randrange(len(record))
            del record[place]
            return place == 0
        case 1:
            record[-1] = record[-1][:-1]
        case 2:
            record[-1] += dice.choice(["I", "@+"])
        case 3:
            place = dice.randrange(len(record))
            record.insert(place, dice.choice(["what is this", "ACGT", "\x07\x08", "+"]))
            return place == 0
        case 4:
            record[1] = record[1][:-1]
    return False


def is_what_is_left(whole: str, letters: str) -> bool:
    """Whether letters are those of a read without one stretch of it."""
    return any(
        whole.startswith(letters[:kept]) and whole.endswith(letters[kept:])
        for kept in range(len(letters) + 1)
    )


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**9),
    sequence_format=st.sampled_from(["fasta", "fastq"]),
    damages=st.booleans(),
    block_bytes=st.sampled_from([5, 64, 1 << 20]),
    waiting_bytes=st.sampled_from([1000, 4 << 20]),
    compression=st.sampled_from(["none", "gzip", "bzip2"]),
)
def test_no_byte_and_no_record_is_lost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    sequence_format: str,
    damages: bool,
    block_bytes: int,
    waiting_bytes: int,
    compression: str,
) -> None:
    file = made(random.Random(seed), sequence_format, damages, block_bytes > 1000)
    data = file.text.encode()
    path = tmp_path / "made.fa"
    path.write_bytes({"none": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}[compression](data))
    with monkeypatch.context() as patch:
        patch.setattr(input_file, "BLOCK_BYTES", block_bytes)
        patch.setattr(fastq, "MAX_WAITING_BYTES", waiting_bytes)
        try:
            found = seen(path)
        except PrepareError:
            assert file.whole == []  # Nothing in the file shows that it is one of sequences.
            return
    assert sum(found.bytes.values()) == len(data)
    assert all(size >= 0 for size in found.bytes.values())
    used = set(found.used)
    assert [read for read in file.whole if read not in used] == []
    for read in used - {*file.whole, *file.wounded}:
        # A read in lines that lost a stretch of it can look whole, and a quality line before a lost header
        # can look like one; what is left is told, then.
        assert any(is_what_is_left(lost.letters, read.letters) for lost in file.wounded)
        assert found.bytes["passed_over"] + found.bytes["damaged"] > 0
    if not damages:
        assert found.used == file.whole
        assert found.bytes["used"] == len(data)
