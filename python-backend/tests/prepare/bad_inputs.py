"""Invalid files that users might provide: the content of each, and the reported problem.

`python bad_inputs.py FOLDER` writes them into a folder and prints their names as JSON;
`python bad_inputs.py --table` prints bad_inputs.tsv, what happens to each.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import random
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

# xopen brings it to Pythons whose own library lacks it.
zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


@dataclass(frozen=True)
class BadInput:
    """title: the problem, unique; name: the file's name; data: its content."""

    title: str
    name: str
    data: bytes


def bases(count: int, seed: int = 1) -> bytes:
    """Make random bases, the same for the same seed."""
    return "".join(random.Random(seed).choices("ACGT", k=count)).encode()


SEQUENCE = bases(90)
FASTA = b">one\n" + SEQUENCE + b"\n>two\n" + bases(60, 2) + b"\n"
LONGER = b"".join(b">read_%d\n%s\n" % (i, bases(60, i)) for i in range(40))
READ = b"@read\n" + bases(60) + b"\n+\n" + b"I" * 60 + b"\n"


def bad_inputs() -> Iterator[BadInput]:
    """Yield all cases in the order of the table."""
    files = no_sequences() | other_formats() | line_ends() | sequences() | headers() | reads() | compressed()
    for number, (title, data) in enumerate(files.items(), 1):
        ending, content = data if isinstance(data, tuple) else ("fa", data)
        yield BadInput(title, f"{number:03}.{ending}", content)
    for title, name in file_names().items():
        yield BadInput(title, name, FASTA)


Content = bytes | tuple[str, bytes]
"""Bytes, with another file name ending if the case needs one."""


def no_sequences() -> dict[str, Content]:
    """Files with nothing to score."""
    noise = random.Random(7).randbytes(2_000)
    return {
        "empty file": b"",
        "newlines only": b"\n\n\n\n",
        "spaces and tabs only": b"  \t \n  ",
        "carriage returns only": b"\r\r\r",
        "comments only": b"; nothing\n# here\n",
        "a byte-order mark only": b"\xef\xbb\xbf",
        "zero bytes only": bytes(500),
        "bases without a header": SEQUENCE + b"\n",
        "one word": b"sequence\n",
        "random bytes": noise,
        "random bytes with a > at a line's beginning": noise.replace(b"\n", b"") + b"\n>x\nACGT\n",
        "one >": b">",
        "one > and a line end": b">\n",
        "many > and nothing else": b">\n" * 300,
        "one header, no line end": b">alone",
        "one header": b">alone\n",
        "headers only": b">a\n>b\n>c\n",
        "no base": b">a\n\n\n",
        "three bases": b">a\nACG\n",
        "eleven bases": b">a\nACGTACGTACG\n",
    }


def other_formats() -> dict[str, Content]:
    """Files that people mistake for sequence files."""
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo("inside.fa")
        entry.size = len(FASTA)
        archive.addfile(entry, io.BytesIO(FASTA))
    with zipfile.ZipFile(zipped, "w") as zip_archive:
        zip_archive.writestr(zipfile.ZipInfo("inside.fa"), FASTA)
    return {
        "web page": b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n",
        "web page with a > at a line's beginning": b"<html\n>\n<body>\n</body></html>\n",
        "XML": b"<?xml version='1.0'?><BlastOutput></BlastOutput>\n",
        "JSON": b'{"sequence": "ACGT"}\n',
        "CSV": b"id,sequence\na,ACGTACGT\n",
        "table with tabulators": b"id\tsequence\na\tACGTACGT\n",
        "GenBank": b"LOCUS       AB000001  90 bp DNA\nORIGIN\n 1 acgtacgt\n//\n",
        "EMBL": b"ID   X56734; SV 1; linear; mRNA; STD; PLN; 90 BP.\nSQ   Sequence\n     acgt\n//\n",
        "GFF3": b"##gff-version 3\nchr1\t.\tgene\t1\t90\t.\t+\t.\tID=a\n",
        "VCF": b"##fileformat=VCFv4.3\n#CHROM\tPOS\n",
        "SAM": b"@HD\tVN:1.6\n@SQ\tSN:a\tLN:90\nr\t0\ta\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n",
        "BAM": gzip.compress(b"BAM\x01" + bytes(60), mtime=0),
        "CRAM": b"CRAM\x03\x00" + bytes(60),
        "FAST5": b"\x89HDF\r\n\x1a\n" + bytes(60),
        "ZIP archive": zipped.getvalue(),
        "RAR archive": b"Rar!\x1a\x07\x01\x00" + bytes(60),
        "7-Zip archive": b"7z\xbc\xaf\x27\x1c" + bytes(60),
        "tar archive": tar.getvalue(),
        "tar archive, gzipped": gzip.compress(tar.getvalue(), mtime=0),
        "gzipped twice": gzip.compress(gzip.compress(FASTA, mtime=0), mtime=0),
        "UTF-16, little-endian": "\ufeff".encode("utf-16-le") + FASTA.decode().encode("utf-16-le"),
        "UTF-16, big-endian": "\ufeff".encode("utf-16-be") + FASTA.decode().encode("utf-16-be"),
        "UTF-16 without its mark": FASTA.decode().encode("utf-16-le"),
        "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "PNG": b"\x89PNG\r\n\x1a\n" + bytes(60),
        "Linux program": b"\x7fELF\x02\x01\x01" + bytes(100),
        "shell script": b"#!/bin/sh\necho hello\n",
        "mail": b"From: a@b.c\nSubject: sequences\n\nPlease find attached.\n",
        "Newick tree": b"(a:0.1,b:0.2);\n",
        "Clustal alignment": b"CLUSTAL W (1.83)\n\na  ACGT\nb  ACGT\n",
        "Stockholm alignment": b"# STOCKHOLM 1.0\na ACGT\n//\n",
        "proteins": b">p\nMKLVFFAEDVGSNKGAIIGLMVGGVVIATVIVITLVMLKKKEFPQ*\n",
        "quality values only": b">q\n40 40 38 37 2 2 40 40\n",
        "a protein among genes": FASTA + b">p\nMKLVFFAEDVGSNKGAIIGLMVGGVVIATVIVITLVMLKKKEFPQ*\n",
        "RNA among genes": FASTA + b">r\n" + SEQUENCE.replace(b"T", b"U") + b"\n",
        "FASTQ behind FASTA": FASTA + READ,
        "FASTA behind FASTQ": READ + FASTA,
    }


def line_ends() -> dict[str, Content]:
    """Line ends, and lines that don't belong to a record."""
    return {
        "CR LF": FASTA.replace(b"\n", b"\r\n"),
        "CR": FASTA.replace(b"\n", b"\r"),
        "LF, CR LF and CR mixed": b">a\r\n" + SEQUENCE + b"\r>b\n" + SEQUENCE + b"\r\n",
        "byte-order mark": b"\xef\xbb\xbf" + FASTA,
        "no line end at the end": FASTA.rstrip(),
        "blank lines between records": FASTA.replace(b"\n>", b"\n\n\n>"),
        "blank lines within a sequence": b">a\nACGTACGT\n\n\nACGTACGT\n",
        "text before the first record": b"Produced by a tool\n" + FASTA,
        "; in place of >": FASTA.replace(b">", b";"),
        "; in place of >, with comments": FASTA.replace(b"one", b"one\n; a comment").replace(b">", b";"),
        "comment before the first record": b"; produced by a tool\n" + FASTA,
        "comments within a sequence": b">a\nACGTACGT\n; a comment\nACGTACGT\n",
        "ctrl-Z at the end": FASTA + b"\x1a",
        "zero bytes at the end": FASTA + bytes(200),
        "one base a line": b">a\n" + b"\n".join(SEQUENCE[i : i + 1] for i in range(90)) + b"\n",
        "line of 200,000 bases": b">a\n" + bases(500) + b"N" * 199_500 + b"\n",
        "spaces at line ends": FASTA.replace(b"\n", b"  \n"),
        "indented sequence": b">a\n    " + SEQUENCE + b"\n",
        "files joined without a line end": FASTA.rstrip() + FASTA,
        "headers from a web page": FASTA.replace(b">", b"&gt;", 2).replace(b"&gt;", b">", 1),
        "files with byte-order marks, joined": (b"\xef\xbb\xbf" + FASTA) * 2,
        "zero-width spaces at line ends": FASTA.replace(b"\n", b"\xe2\x80\x8b\n"),
        "ctrl-Z between two files": FASTA + b"\x1a" + FASTA,
        "indented headers": FASTA.replace(b">", b"  >"),
        "vertical tab and form feed": b">a\nACGT\x0bACGT\x0cACGT\n",
    }


def sequences() -> dict[str, Content]:
    """Letters other than A, C, G and T."""
    return {
        "RNA": b">a\n" + SEQUENCE.replace(b"T", b"U") + b"\n",
        "lower case": FASTA.lower().replace(b">ONE", b">one"),
        "masked in part": b">a\n" + SEQUENCE[:45].lower() + SEQUENCE[45:] + b"\n",
        "all letters of IUPAC": b">a\nACGTRYSWKMBDHVN" + SEQUENCE + b"\n",
        "N only": b">a\n" + b"N" * 600 + b"\n",
        "gaps": b">a\nACGT----ACGTACGT....ACGT\n",
        "star at the end": b">a\n" + SEQUENCE + b"*\n",
        "stars between": b">a\nACGT***ACGTACGTACGT\n",
        "masked with X": b">a\n" + SEQUENCE[:40] + b"X" * 20 + SEQUENCE[60:] + b"\n",
        "lines numbered as in GenBank": b">a\n        1 acgtacgtac gtacgtacgt\n       61 acgtacgtac\n",
        "digits": b">a\n1 ACGTACGTAC 11 GTACGTACGT\n",
        "spaces between tens": b">a\nACGTACGTAC GTACGTACGT\n",
        "tabulators within": b">a\nACGT\tACGT\n",
        "zero byte within": b">a\nACGT\x00ACGT\n",
        "bell": b">a\nACGT\x07ACGT\n",
        "escape sequence": b">a\nACGT\x1b[31mACGT\n",
        "accented letters": ">a\nACGÄÖTACGT\n".encode(),
        "Latin-1 letters": b">a\nACG\xc4\xd6TACGT\n",
        "Greek letters that look Latin": ">a\n\u0391CG\u03a4ACGT\n".encode(),
        "full-width letters": ">a\n\uff21\uff23\uff27\uff34ACGT\n".encode(),
        "emoji": ">a\nACGT🧬ACGT\n".encode(),
        "> within a line": b">a\nACGT>ACGT\n",
        "question marks": b">a\nACGT??ACGT\n",
        "HTML": b">a\nACGT&nbsp;ACGT\n",
        "colour space (SOLiD)": b">a\nT0123012301230\n",
        "one good record, one bad, one good": FASTA + b">bad\nAC\x07GT\n>good\n" + SEQUENCE + b"\n",
    }


def headers() -> dict[str, Content]:
    """Names of sequences."""
    record = b"\n" + SEQUENCE + b"\n"
    return {
        "same name twice": b">a" + record + b">a" + record,
        "same name, other descriptions": b">a first" + record + b">a second" + record,
        "no name": b">" + record,
        "tabulator in the header": b">a\tb" + record,
        "header of 100,000 letters": b">" + b"h" * 100_000 + record,
        "escape sequence in the header": b">\x1b[2Ja" + record,
        "text that runs right to left": ">\u202eacgt\u202c".encode() + record,
        "Chinese and emoji": ">病毒🦠".encode() + record,
        "not UTF-8 in the header": b">\xff\xfe\xc0" + record,
        "spreadsheet formula": b'>=HYPERLINK("http://invalid.invalid")' + record,
        "formula by minus": b">-1+1|cmd" + record,
        "HTML in the header": b"><img src=x onerror=alert(1)>" + record,
        "path in the header": b">../../../etc/passwd" + record,
        "shell commands in the header": b">$(touch x);`touch y`" + record,
        "quotes and commas": b">a\"b,'c';d" + record,
    }


def reads() -> dict[str, Content]:
    """FASTQ files."""
    one = bases(60)
    quality = b"I" * 60
    return {
        "quality too short": b"@a\n" + one + b"\n+\n" + b"I" * 59 + b"\n" + READ,
        "quality too long": b"@a\n" + one + b"\n+\n" + b"I" * 61 + b"\n" + READ,
        "cut off within the quality": READ + b"@a\n" + one + b"\n+\nIII",
        "cut off within the bases": READ + b"@a\nACG",
        "cut off behind a header": READ + b"@a",
        "no plus": b"@a\n" + one + b"\n" + quality + b"\n" + READ,
        "@ as first quality": b"@a\n" + one + b"\n+\n@" + b"I" * 59 + b"\n" + READ,
        "+ as first quality": b"@a\n" + one + b"\n+\n+" + b"I" * 59 + b"\n" + READ,
        "several lines a read": b"@a\n%s\n%s\n+\n%s\n%s\n" % (one[:30], one[30:], quality[:30], quality[30:])
        + READ,
        "sequence in lines, quality in one": b"@a\n%s\n%s\n+\n%s\n" % (one[:30], one[30:], quality) + READ,
        "one of three reads in lines lacks quality": b"".join(
            b"@%d\n%s\n%s\n+\n%s\n" % (i, one[:30], one[30:], quality[: 30 if i == 1 else 60])
            for i in range(3)
        ),
        "text between reads": READ + b"resumed after a lost connection\n" + READ.replace(b"read", b"two"),
        "dots for unknown bases": READ.replace(one[5:8], b"..."),
        "colour space": b"@a\nT" + b"0123" * 15 + b"\n+\n" + b"I" * 61 + b"\n",
        "read without bases at the end": READ + b"@a\n\n+\n",
        "read without bases": b"@a\n\n+\n\n" + READ,
        "other name behind the plus": b"@a\n" + one + b"\n+b\n" + quality + b"\n" + READ,
        "blank lines between reads": READ + b"\n\n" + READ,
        "reads with CR LF": READ.replace(b"\n", b"\r\n"),
        "no line end": READ.rstrip(),
        "qualities below 33": b"@a\n" + one + b"\n+\n" + b"\x10" * 60 + b"\n" + READ,
        "name .fastq, content FASTA": ("fastq", FASTA),
        "RNA reads": READ.replace(b"T", b"U"),
        "a + alone": b"@a\n+\n",
    }


def bgzf(data: bytes) -> bytes:
    """A block of BGZF; without data the block that marks the end."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(data) + packer.flush()
    head = bytes.fromhex("1f8b08040000000000ff060042430200") + (len(packed) + 25).to_bytes(2, "little")
    return head + packed + zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


def compressed() -> dict[str, Content]:
    """Files that are compressed correctly, wrongly, and partly."""
    zipped = gzip.compress(LONGER, mtime=0)
    flipped = bytearray(zipped)
    flipped[len(zipped) // 2] ^= 0xFF
    wrong_sum = zipped[:-8] + b"\x00\x00\x00\x00" + zipped[-4:]
    bzipped, xzipped = bz2.compress(LONGER), lzma.compress(LONGER)
    zst = zstd.compress(LONGER)
    return {
        "gzip": ("fa.gz", zipped),
        "gzip in two pieces": ("fa.gz", zipped + gzip.compress(FASTA, mtime=0)),
        "gzip with zero bytes behind it": ("fa.gz", zipped + bytes(512)),
        "gzip with garbage behind it": ("fa.gz", zipped + b"garbage garbage"),
        "gzip of nothing": ("fa.gz", gzip.compress(b"", mtime=0)),
        "gzip without its name": zipped,
        "plain text called .gz": ("fa.gz", FASTA),
        "gzip, cut off": ("fa.gz", zipped[:-300]),
        "gzip, cut off within its header": ("fa.gz", zipped[:5]),
        "gzip without its checksum": ("fa.gz", zipped[:-8]),
        "gzip, one byte changed": ("fa.gz", bytes(flipped)),
        "gzip, wrong checksum": ("fa.gz", wrong_sum),
        "gzip, garbage for data": ("fa.gz", zipped[:10] + b"\xff" * 300),
        "bzip2": ("fa.bz2", bzipped),
        "bzip2, cut off": ("fa.bz2", bzipped[:-100]),
        "bzip2 with garbage behind it": ("fa.bz2", bzipped + b"garbage garbage"),
        "bzip2, garbage for data": ("fa.bz2", bzipped[:10] + b"\xff" * 300),
        "xz": ("fa.xz", xzipped),
        "xz, cut off": ("fa.xz", xzipped[:-100]),
        "xz with garbage behind it": ("fa.xz", xzipped + b"garbage garbage"),
        "Zstandard": ("fa.zst", zst),
        "Zstandard, cut off": ("fa.zst", zst[:-100]),
        "Zstandard, garbage for data": ("fa.zst", zst[:4] + b"\xff" * 300),
        "Zstandard of pzstd": (
            "fa.zst",
            (b"\x50\x2a\x4d\x18\x04\x00\x00\x00" + len(zst).to_bytes(4, "little") + zst) * 2,
        ),
        "LZMA": ("fa.lzma", lzma.compress(LONGER, lzma.FORMAT_ALONE)),
        "LZMA, cut off": ("fa.lzma", lzma.compress(LONGER, lzma.FORMAT_ALONE)[:-100]),
        "LZ4": ("fa.lz4", bytes.fromhex("04224d186440a7") + bytes(60)),
        "LZ4, called .fa": bytes.fromhex("04224d186440a7") + bytes(60),
        "LZ4, old form": ("fa.lz4", bytes.fromhex("02214c18") + bytes(60)),
        "compress": ("fa.Z", b"\x1f\x9d\x90" + bytes(60)),
        "lzip": ("fa.lz", b"LZIP\x01" + bytes(60)),
        "lzop": ("fa.lzo", b"\x89LZO\x00\x0d\x0a\x1a\x0a" + bytes(60)),
        "Snappy": ("fa.sz", b"\xff\x06\x00\x00sNaPpY" + bytes(60)),
        "Zstandard in gzip": ("fa.gz", gzip.compress(zst, mtime=0)),
        "BGZF": ("fa.gz", bgzf(LONGER[:500]) + bgzf(LONGER[500:]) + bgzf(b"")),
        "BGZF without its end block": ("fa.gz", bgzf(LONGER[:500]) + bgzf(LONGER[500:])),
        "BGZF cut off between blocks": ("fa.gz", bgzf(LONGER[:500])),
        "reads called .fa.gz": ("fa.gz", gzip.compress(READ, mtime=0)),
        "web page called .fa.gz": ("fa.gz", b"<html>Not Found</html>"),
        "a million N in a kilobyte": ("fa.gz", gzip.compress(b">n\n" + b"N" * 1_000_000, mtime=0)),
        "100,000 empty records": ("fa.gz", gzip.compress(b">e\n" * 100_000, mtime=0)),
    }


def file_names() -> dict[str, str]:
    """File names, with ordinary content."""
    return {
        "name with spaces": "a b  c.fa",
        "name with quotes": "a'b\"c.fa",
        "name with a line end": "a\nb.fa",
        "name with a tabulator": "a\tb.fa",
        "name with an emoji": "🧬.fa",
        "name that looks like a flag": "--model.fa",
        "name with shell commands": "$(touch x)`touch y`.fa",
        "name with a star": "*.fa",
        "name with HTML": "<img src=x>.fa",
        "name that is a formula": "=1+1.fa",
        "name with an escape sequence": "\x1b[31m.fa",
        "name of 240 letters": "n" * 237 + ".fa",
        "name that runs right to left": "\u202eaf.fa",
        "name with percent signs": "%2e%2e%00.fa",
    }


def row(case: BadInput, folder: Path) -> tuple[str, str, str]:
    """Return title, outcome and problems of a case, each with its count."""
    from virnucpro_backend.prepare.inspect import inspect_file
    from virnucpro_backend.problem_codes import ProblemCode

    path = folder / case.name
    path.write_bytes(case.data)
    event = inspect_file(path, ["500"])
    # What makes a file unusable comes first in the contract.
    unusable = get_args(ProblemCode)[: get_args(ProblemCode).index("empty")]
    blocking = [problem for problem in event["problems"] if problem["code"] in unusable]
    said = [f"{problem['code']} {problem['count']}" for problem in blocking or event["problems"]]
    skipped = sum(event[key] for key in ("empty", "invalid_characters", "malformed"))
    outcome = "left out" if blocking else f"{event['sequences'] - skipped} of {event['sequences']} used"
    return case.title, outcome, ", ".join(said)


def table() -> list[str]:
    """Return a line for each outcome and its problems, with the titles of its cases, between tabulators."""
    cases: dict[tuple[str, str], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in bad_inputs():
            title, outcome, problems = row(case, Path(folder))
            cases.setdefault((outcome, problems), []).append(title)
    return ["\t".join([*key, *titles]) for key, titles in cases.items()]


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        print("\n".join(table()))
    else:
        for case in bad_inputs():
            (Path(sys.argv[1]) / case.name).write_bytes(case.data)
        print(json.dumps([{"title": case.title, "name": case.name} for case in bad_inputs()]))
