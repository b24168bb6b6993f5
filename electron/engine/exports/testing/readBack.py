"""Reads exported files with libraries that share no code with the writers and prints what they hold as JSON.

Arguments: pairs of a format and a path.
"""

import csv
import json
import sys
import zipfile
from xml.etree import ElementTree

import gffutils
import openpyxl
import pyarrow.parquet
from Bio import SeqIO


def xlsx(path):
    book = openpyxl.load_workbook(path, read_only=True)
    return {
        sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()]
        for sheet in book.worksheets
    }


def layout(path):
    """How a spreadsheet shows the first sheet: formats by heading, widths, frozen cells, filter, the look of headings."""
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    headings = [cell.value for cell in sheet[1]]
    return {
        "formats": {
            heading: next((cell.number_format for cell in cells[1:] if cell.value is not None), None)
            for heading, cells in zip(headings, sheet.iter_cols(), strict=True)
        },
        "widths": [sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]],
        "frozen": sheet.freeze_panes,
        "filter": sheet.auto_filter.ref,
        "dimension": sheet.dimensions,
        "bold": [cell.font.bold for row in (sheet[1], sheet[2]) for cell in row[:1]],
        "wrapped": [bool(cell.alignment.wrap_text) for cell in book.worksheets[-1][1]],
    }


def package(path):
    """The parts of an Office Open XML package, their own types, and what its workbook refers to."""
    with zipfile.ZipFile(path) as archive:
        types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
        relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        names = archive.namelist()
    return {
        "parts": sorted(names),
        "types": {
            one.attrib["PartName"]: one.attrib["ContentType"] for one in types if "PartName" in one.attrib
        },
        "targets": [one.attrib["Target"] for one in relations],
    }


def parquet(path):
    file = pyarrow.parquet.ParquetFile(path)
    table = file.read()
    metadata = {key.decode(): value.decode() for key, value in (file.metadata.metadata or {}).items()}
    return {
        "types": {field.name: str(field.type) for field in table.schema},
        "rows": table.to_pylist(),
        "metadata": metadata,
    }


def delimited(delimiter):
    def read(path):
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file, delimiter=delimiter))

    return read


def fasta(path):
    return [[record.description, str(record.seq)] for record in SeqIO.parse(path, "fasta")]


def gff3(path):
    features = gffutils.create_db(path, ":memory:", from_string=False, force=True)
    return [
        {
            "start": feature.start,
            "end": feature.end,
            "score": feature.score,
            "strand": feature.strand,
            "attributes": {key: value[0] for key, value in feature.attributes.items()},
            "parents": [parent.id for parent in features.parents(feature)],
        }
        for feature in features.all_features(order_by=("file_order",))
    ]


def bed(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


READERS = {
    "xlsx": xlsx,
    "layout": layout,
    "package": package,
    "parquet": parquet,
    "tsv": delimited("\t"),
    "csv": delimited(","),
    "csv_de": delimited(";"),
    "fasta": fasta,
    "gff3": gff3,
    "bed": bed,
}

arguments = sys.argv[1:]
json.dump(
    [READERS[name](path) for name, path in zip(arguments[::2], arguments[1::2], strict=True)],
    sys.stdout,
)
