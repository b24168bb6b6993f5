"""Distinguishes FASTA, FASTQ and everything else by content."""

from __future__ import annotations

import re
from typing import Literal

from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.input_file import InputFile, compression_of
from virnucpro_backend.prepare.scanning.invisible_marks import BYTE_ORDER_MARK, InvisibleMarks
from virnucpro_backend.problem_codes import ProblemCode

SequenceFormat = Literal["fasta", "fastq"]

_COMPRESSED_NAME = re.compile(r"\.(gz|bgz|bz2|xz|lzma|zst)$", re.IGNORECASE)

_SKIPPED_LINES = re.compile(rb"(?:[ \t]*[\r\n]+|[;#][^\r\n]*(?:[\r\n]+|\Z))*")
# A name, and perhaps comments, before a line of bases.
_PEARSON_FASTA = re.compile(
    rb"(?:[ \t]*[\r\n]+)*;(?:[^\r\n]*[\r\n]+;)*[^\r\n]*[\r\n]+[ACGTUNacgtun]{4,}[*\s]"
)
_FASTA_LINE = re.compile(rb"(?:\A|[\r\n])>")
_FASTQ_RECORD = re.compile(rb"(?:\A|[\r\n])@[^\r\n]*(?:\r\n|\r|\n)(?:[A-Za-z*.~?-]+(?:\r\n|\r|\n))+\+")

_TABLE_LINE = re.compile(rb"[^\t\r\n]+\t[^\t\r\n]+\t")

# Compressed data that are not unpacked here: first bytes, name, the command that unpacks them.
_OTHER_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], str, str], ...] = (
    (re.compile(rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18"), "LZ4", "lz4 -d"),
    (re.compile(rb"\x1f\x9d"), "compress", "uncompress"),
    (re.compile(rb"LZIP"), "lzip", "lzip -d"),
    (re.compile(rb"\x89LZO\x00"), "lzop", "lzop -d"),
    (re.compile(rb"\xff\x06\x00\x00sNaPpY"), "Snappy", "snzip -d"),
)

# Files that people mistake for sequence files, by their first bytes (for text, after comments).
_OTHER_FORMATS: tuple[tuple[re.Pattern[bytes], ProblemCode], ...] = (
    (re.compile(rb"@(?:HD|SQ|RG|PG|CO)\t|BAM\x01|CRAM"), "alignment_map"),
    (re.compile(rb"LOCUS  |ID   "), "flat_file"),
    (re.compile(rb"##gff-version|##fileformat=VCF"), "annotation"),
    (
        re.compile(rb"(?s)PK\x03\x04.{0,65536}\b(?:xl|word)/|\xd0\xcf\x11\xe0|\{\\rtf|%PDF"),
        "document",
    ),
    (re.compile(rb"(?s)PK(?:\x03\x04|\x05\x06)|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|.{257}ustar"), "archive"),
    (re.compile(rb"\x89HDF"), "raw_signals"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "utf16"),
    (re.compile(rb"\s*<"), "web_page"),
)


def sniff_format(source: InputFile, beginning: bytes) -> SequenceFormat:
    """Find the format of `source` from its first decompressed block.

    Raises PrepareError with what the file seems to be, and `not_compressed` if nothing is known about it
    except that its name wrongly says that it is compressed.
    """
    # A file of zero bytes is no empty file: it is what an interrupted download leaves.
    text = InvisibleMarks().removed_from(beginning, final=True) or beginning.removeprefix(BYTE_ORDER_MARK)
    skipped = _SKIPPED_LINES.match(text)
    content = text[skipped.end() :] if skipped else text
    if compression_of(beginning) != "none":
        raise PrepareError("compressed_twice")
    for pattern, how, command in _OTHER_COMPRESSIONS:
        if pattern.match(beginning):
            raise PrepareError("compressed_otherwise", how=how, command=command)
    for pattern, code in _OTHER_FORMATS:
        if pattern.match(beginning) or pattern.match(content):
            raise PrepareError(code)
    # An empty sample of a pipeline is valid: it has empty results.
    if not content.strip() or content.startswith(b">"):
        return "fasta"
    if content.startswith(b"@"):
        return "fastq"
    if _PEARSON_FASTA.match(text):
        raise PrepareError("pearson_fasta")
    # Text before the first record is allowed, as the scanner reports it; binary data are not.
    # A quality line can begin with '>', but no sequence is followed by a line that begins with '+'.
    patterns: tuple[tuple[re.Pattern[bytes], SequenceFormat], ...] = (
        (_FASTQ_RECORD, "fastq"),
        (_FASTA_LINE, "fasta"),
    )
    for pattern, sequence_format in patterns:
        found = pattern.search(content)
        if found and b"\x00" not in content[: found.start()]:
            return sequence_format
    ending = _COMPRESSED_NAME.search(source.path.name)
    if ending and source.compression == "none":
        raise PrepareError("not_compressed", ending=ending[0])
    if _TABLE_LINE.match(content):
        raise PrepareError("table")
    raise PrepareError("not_sequence_file")
