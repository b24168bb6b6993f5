"""A plain implementation of the rules of chunks and frames, letter by letter, to test the fast code.

It shares nothing with the fast code, not even the genetic code, which is listed here codon by codon.
"""

from __future__ import annotations

from typing import NamedTuple

CODE = {
    "F": "TTT TTC", "L": "TTA TTG CTT CTC CTA CTG", "I": "ATT ATC ATA", "M": "ATG", "V": "GTT GTC GTA GTG",
    "S": "TCT TCC TCA TCG AGT AGC", "P": "CCT CCC CCA CCG", "T": "ACT ACC ACA ACG", "A": "GCT GCC GCA GCG",
    "Y": "TAT TAC", "*": "TAA TAG TGA", "H": "CAT CAC", "Q": "CAA CAG", "N": "AAT AAC", "K": "AAA AAG",
    "D": "GAT GAC", "E": "GAA GAG", "C": "TGT TGC", "W": "TGG", "R": "CGT CGC CGA CGG AGA AGG",
    "G": "GGT GGC GGA GGG",
}  # fmt: skip
RESIDUE_OF = {codon: residue for residue, codons in CODE.items() for codon in codons.split()}
# The only codon of each other genetic code that differs in these.
READ_AS: dict[int, dict[str, str]] = {4: {"TGA": "W"}, 11: {}, 15: {"TAG": "Q"}}
OTHER = {"A": "T", "C": "G", "G": "C", "T": "A"}


class PlainFrame(NamedTuple):
    chunk: int
    name: str
    protein: str
    nucleotides: str


def chunk_bounds(length: int, c: int) -> list[tuple[int, int]]:
    """Walk from chunk to chunk; the first `need` steps go back by lower + 1, the others by lower."""
    n = -(-length // c)
    if n == 0:
        return []
    lower, _ = divmod(n * c - length, n)
    need = (n * c - length) - lower * (n - 1)
    bounds = []
    start = 0
    for k in range(n):
        bounds.append((start, min(start + c, length)))
        start += c - (lower + 1 if k < need else lower)
    return bounds


def frames_of_chunk(chunk: str, code: int = 11) -> list[tuple[str, str, str]]:
    residue_of = {**RESIDUE_OF, **READ_AS[code]}
    forward = chunk.upper()
    reverse = "".join(OTHER.get(letter, letter) for letter in reversed(forward))
    found = []
    for strand_name, strand in (("F", forward), ("R", reverse)):
        for f in range(3):
            protein = ""
            for i in range(f, len(strand) - 2, 3):
                protein += residue_of.get(strand[i : i + 3], "")
            if protein and "*" not in protein:
                found.append((f"{strand_name}{f + 1}", protein, strand[f : f + 1 + 3 * len(protein)]))
    return found


def frames_of_sequence(sequence: str, c: int, code: int = 11) -> list[PlainFrame]:
    return [
        PlainFrame(k, *frame)
        for k, (begin, end) in enumerate(chunk_bounds(len(sequence), c))
        for frame in frames_of_chunk(sequence[begin:end], code)
    ]
