"""Compares what is read of sequence files with what Biopython's plain parsers read of them.

`python compare_readers.py FOLDER` reads every file of a folder of other projects' test files, and prints a
line for each that differs; it needs Biopython, which the program itself does not.
"""

from __future__ import annotations

import importlib
import lzma
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xopen import xopen

from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.input_file import InputFile
from virnucpro_backend.prepare.records.record_files import Reason
from virnucpro_backend.prepare.records.survey import Survey

ENDINGS = (".fa", ".fasta", ".fna", ".ffn", ".faa", ".fsa", ".fq", ".fastq", ".pro", ".nu")
PACKED = (".gz", ".bgz", ".bz2", ".xz")


def read_here(path: Path) -> tuple[list[str], list[str]]:
    """Return the letters of the records that are used, and what is said of the file. Raises PrepareError."""
    letters: list[str] = []
    with InputFile(path) as source, tempfile.TemporaryDirectory() as spool:
        survey = Survey(Path(spool))
        for group in survey.groups(source):
            begin = 0
            for length, reason in zip(group.records.lengths.tolist(), group.reason.tolist(), strict=True):
                if reason in (Reason.OK, Reason.EMPTY):
                    letters.append(group.records.letters.read(begin, begin + length).tobytes().decode())
                begin += length
        return letters, [problem.code for problem in survey.problems.all()]


def read_there(path: Path) -> list[str]:
    """Return the letters of all records by Biopython's parser of the format. Raises ValueError."""
    with xopen(path, "rt", threads=0, encoding="latin-1") as handle:
        beginning = next((line for line in handle if line.strip()), "")
        handle.seek(0)
        if beginning.startswith("@"):
            records = importlib.import_module("Bio.SeqIO.QualityIO").FastqGeneralIterator(handle)
        else:
            records = importlib.import_module("Bio.SeqIO.FastaIO").SimpleFastaParser(handle)
        return ["".join(record[1].split()).replace("\t", "") for record in records]


def outcomes(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield for each file its path, `equal`, `both refuse` or `differs`, and what is said here."""
    for path in sorted(folder.rglob("*")):
        name = path.name.lower()
        for packed in PACKED:
            name = name.removesuffix(packed)
        if not path.is_file() or not name.endswith(ENDINGS):
            continue
        try:
            there: list[str] | None = read_there(path)
        except (ValueError, EOFError, OSError, lzma.LZMAError):
            there = None
        try:
            here, said = read_here(path)
        except PrepareError as refused:
            yield path, "both refuse" if not there else "differs", refused.code
            continue
        whole = not {"malformed_record", "passed_over"}.intersection(said)
        if there is not None and [text.replace(".", "N") for text in there] == [
            text.replace(".", "N") for text in here
        ]:
            yield path, "equal", ""
        else:
            kind = "both refuse" if there is None and not whole else "differs"
            found = "refused" if there is None else f"{len(there)} records"
            yield path, kind, f"there {found}, here {len(here)} used; {' '.join(said)}"


if __name__ == "__main__":
    counts: Counter[str] = Counter()
    for path, outcome, detail in outcomes(Path(sys.argv[1])):
        counts[outcome] += 1
        if outcome == "differs":
            print(f"{path}: {detail}")
    print(dict(counts))
