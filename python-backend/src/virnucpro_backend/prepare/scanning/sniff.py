"""Distinguishes FASTA, FASTQ and everything else by content."""

from __future__ import annotations

import re
from typing import Literal

from virnucpro_backend.prepare.failures import FailureCode, PrepareError
from virnucpro_backend.prepare.input_file import InputFile, compression_of
from virnucpro_backend.prepare.scanning.invisible_marks import BYTE_ORDER_MARK, InvisibleMarks

SequenceFormat = Literal["fasta", "fastq"]

_COMPRESSED_NAME = re.compile(r"\.(gz|bgz|bz2|xz|lzma|zst)$", re.IGNORECASE)

_SKIPPED_LINES = re.compile(rb"(?:[ \t]*[\r\n]+|[;#][^\r\n]*(?:[\r\n]+|\Z))*")
# A name, and perhaps comments, before a line of bases.
_PEARSON_FASTA = re.compile(
    rb"(?:[ \t]*[\r\n]+)*;(?:[^\r\n]*[\r\n]+;)*[^\r\n]*[\r\n]+[ACGTUNacgtun]{4,}[*\s]"
)
_FASTA_LINE = re.compile(rb"(?:\A|[\r\n])>")
_FASTQ_RECORD = re.compile(rb"(?:\A|[\r\n])@[^\r\n]*(?:\r\n|\r|\n)(?:[A-Za-z*.~?-]+(?:\r\n|\r|\n))+\+")

_SAVE_AS_TEXT = "Copy the sequences into a plain text file, each below a line of > and its name."
_TABLE_LINE = re.compile(rb"[^\t\r\n]+\t[^\t\r\n]+\t")

_EXTRACT = "Unpack it, such as with `{}`, and choose the FASTA or FASTQ files in it."

# Compressed data that are not unpacked here: first bytes, name, the command that unpacks them, and the key of
# the window's text.
_OTHER_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], str, str, str], ...] = (
    (re.compile(rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18"), "LZ4", "lz4 -d", "lz4"),
    (re.compile(rb"\x1f\x9d"), "compress", "uncompress", "compress"),
    (re.compile(rb"LZIP"), "lzip", "lzip -d", "lzip"),
    (re.compile(rb"\x89LZO\x00"), "lzop", "lzop -d", "lzop"),
    (re.compile(rb"\xff\x06\x00\x00sNaPpY"), "Snappy", "snzip -d", "snappy"),
)

# Files that people mistake for sequence files: first bytes (for text, after comments), what it is, the key
# of the window's text, and what to do about it.
_OTHER_FORMATS: tuple[tuple[re.Pattern[bytes], str, str, str], ...] = (
    (
        re.compile(rb"@(?:HD|SQ|RG|PG|CO)\t"),
        "a SAM file",
        "alignment_map",
        "Convert it with `samtools fastq`.",
    ),
    (re.compile(rb"BAM\x01"), "a BAM file", "alignment_map", "Convert it with `samtools fastq`."),
    (re.compile(rb"CRAM"), "a CRAM file", "alignment_map", "Convert it with `samtools fastq`."),
    (re.compile(rb"LOCUS  "), "a GenBank file", "genbank", "Download or export the same sequences as FASTA."),
    (re.compile(rb"ID   "), "an EMBL file", "embl", "Export the sequences as FASTA."),
    (
        re.compile(rb"##gff-version"),
        "a GFF annotation file",
        "gff",
        "Choose the FASTA file with the sequences.",
    ),
    (re.compile(rb"##fileformat=VCF"), "a VCF file", "vcf", "Choose the FASTA file with the sequences."),
    (re.compile(rb"(?s)PK\x03\x04.{0,65536}\bxl/"), "an Excel workbook", "excel", _SAVE_AS_TEXT),
    (re.compile(rb"(?s)PK\x03\x04.{0,65536}\bword/"), "a Word document", "word", _SAVE_AS_TEXT),
    (re.compile(rb"\xd0\xcf\x11\xe0"), "an old Word or Excel file", "old_office", _SAVE_AS_TEXT),
    (re.compile(rb"\{\\rtf"), "a formatted document (RTF)", "rtf", _SAVE_AS_TEXT),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06)"), "a ZIP archive", "archive", _EXTRACT.format("unzip")),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", "archive", _EXTRACT.format("7z x")),
    (re.compile(rb"Rar!\x1a\x07"), "a RAR archive", "archive", _EXTRACT.format("unrar x")),
    (re.compile(rb"(?s).{257}ustar"), "a tar archive", "archive", _EXTRACT.format("tar -xf")),
    (
        re.compile(rb"\x89HDF"),
        "an HDF5 (FAST5) file",
        "fast5",
        "Basecall it first, then choose the FASTQ file.",
    ),
    (re.compile(rb"%PDF"), "a PDF document", "pdf", "Choose a FASTA or FASTQ file."),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "text in UTF-16", "utf16", "Save it again as plain text (UTF-8)."),
    (
        re.compile(rb"\s*<"),
        "a web page or XML file",
        "web_page",
        "Download the sequences themselves as FASTA.",
    ),
)


def sniff_format(source: InputFile, beginning: bytes) -> SequenceFormat:
    """Find the format of `source` from its first decompressed block.

    Raises PrepareError `not_sequence_file`, which says what the file seems to be, and `not_compressed` if
    nothing is known about the file except that its name wrongly says that it is compressed.
    """
    name = source.path.name
    # A file of zero bytes is no empty file: it is what an interrupted download leaves.
    text = InvisibleMarks().removed_from(beginning, final=True) or beginning.removeprefix(BYTE_ORDER_MARK)
    skipped = _SKIPPED_LINES.match(text)
    content = text[skipped.end() :] if skipped else text
    if compression_of(beginning) != "none":
        twice = "is compressed twice"
        raise _refused(name, twice, "Unpack it once and choose the result.", "compressed_twice")
    for pattern, compression, command, kind in _OTHER_COMPRESSIONS:
        if pattern.match(beginning):
            what = f"is compressed with {compression}, which is not read here: unpack it with `{command}`"
            raise _refused(name, what, "Unpack it and choose the result.", kind)
    for pattern, what, kind, next_step in _OTHER_FORMATS:
        if pattern.match(beginning) or pattern.match(content):
            raise _refused(name, f"is not a sequence file, it seems to be {what}", next_step, kind)
    # An empty sample of a pipeline is valid: it has empty results.
    if not content.strip() or content.startswith(b">"):
        return "fasta"
    if content.startswith(b"@"):
        return "fastq"
    if _PEARSON_FASTA.match(text):
        what = "is FASTA in its first form, with names behind ; instead of >"
        raise _refused(name, what, "Write > in place of the ; before each name.", "pearson_fasta")
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
    ending = _COMPRESSED_NAME.search(name)
    if ending and source.compression == "none":
        raise PrepareError(
            FailureCode.NOT_COMPRESSED,
            f"{name} is named {ending[0]} but is not compressed, and is not a FASTA or FASTQ file either.",
            "Download or copy the file again, or choose the one that was meant.",
        )
    if _TABLE_LINE.match(content):
        what = "is not a sequence file, it seems to be a table"
        raise _refused(name, what, "Choose the FASTA file that it was made from.", "table")
    raise _refused(name, "is not a FASTA or FASTQ file", "Choose a FASTA or FASTQ file.")


def _refused(name: str, what: str, next_step: str, kind: str | None = None) -> PrepareError:
    return PrepareError(FailureCode.NOT_SEQUENCE_FILE, f"{name} {what}.", next_step, kind)
