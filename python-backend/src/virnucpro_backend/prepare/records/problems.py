"""Problems of an input that don't end a run: one table of codes, severities and messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["warning", "skipped"]

MAX_EXAMPLES = 5
# Of damage, since failed_records.tsv says where each is.
MAX_PLACES_OF_DAMAGE = 1_000
_DAMAGE = ("malformed_record", "invalid_characters", "passed_over")


@dataclass(frozen=True)
class ProblemKind:
    """severity: `skipped` records get no score, a `warning` changes nothing. {n} is the count."""

    severity: Severity
    message: str
    what_happens: str


PROBLEMS: dict[str, ProblemKind] = {
    "no_sequences": ProblemKind(
        "warning", "The file holds no sequences.", "The results have no rows of this file."
    ),
    "no_end_block": ProblemKind(
        "warning",
        "The file is compressed in blocks (BGZF), and the block that marks its end is missing.",
        "It may be cut off: compare its size with the original, or copy it again. All that is there is read.",
    ),
    "empty": ProblemKind(
        "skipped", "Empty sequences: {n}.", "They are listed as not scored, with this reason."
    ),
    "invalid_characters": ProblemKind(
        "skipped",
        "Sequences with characters that no sequence has (such as control characters or accents): {n}.",
        "They are listed as not scored, with this reason; all others are scored.",
    ),
    "malformed_record": ProblemKind(
        "skipped",
        "Damaged or incomplete records: {n}.",
        "They are listed as not scored, with this reason; reading goes on with the next record.",
    ),
    "passed_over": ProblemKind(
        "skipped",
        "Lines that belong to no sequence and were passed over: {n}.",
        "They may be what is left of sequences: look at these lines of the file.",
    ),
    "protein_records": ProblemKind(
        "skipped",
        "Proteins among the sequences: {n}.",
        "They are listed as not scored; the other sequences are scored.",
    ),
    "rna_records": ProblemKind(
        "warning",
        "Sequences that are written as RNA, with U instead of T: {n}.",
        "Codons with U are skipped, so hardly anything of them is scored: use --repair read_u_as_t.",
    ),
    "invisible_marks": ProblemKind(
        "warning",
        "Invisible marks (such as a byte-order mark) at the beginning or end of lines: {n}.",
        "They are left out, as they are no part of a name or sequence.",
    ),
    "duplicate_ids": ProblemKind(
        "warning",
        "Sequences with the name of an earlier one in the file: {n}.",
        "Names end at the first blank. All sequences are scored and kept apart by their place in the file.",
    ),
    "ids_not_compared": ProblemKind(
        "warning",
        "Names not checked for duplicates, because there are too many: {n}.",
        "All sequences are scored and kept apart by their place in the file.",
    ),
    "ambiguous_bases": ProblemKind(
        "warning",
        "Sequences with letters other than A, C, G and T: {n}.",
        "A codon with such a letter is skipped in the protein, as in the original tool.",
    ),
    "lower_case": ProblemKind(
        "warning",
        "Sequences with lower-case letters: {n}.",
        "They are read as upper case; masking is ignored.",
    ),
    "comment_lines": ProblemKind(
        "warning",
        "Lines inside sequences that begin with # or ;: {n}.",
        "They are left out as comments. The original tool reads them as part of the sequence.",
    ),
    "looks_like_numbers": ProblemKind(
        "warning",
        "The lines hold numbers (such as quality values or colour space), not bases.",
        "Choose the file with the sequences themselves.",
    ),
    "looks_like_protein": ProblemKind(
        "warning",
        "The letters are those of proteins, not of DNA.",
        "Proteins can't be scored: choose the nucleotide sequences.",
    ),
    "looks_like_rna": ProblemKind(
        "warning",
        "The sequences are written as RNA, with U instead of T.",
        "Codons with U are skipped, so hardly anything would be scored: use --repair read_u_as_t.",
    ),
    "gaps": ProblemKind(
        "warning",
        "Sequences with gaps or padding of an alignment (-, ., * or ~): {n}.",
        "Gaps are read as unknown letters and shift the reading frames: use --repair remove_gaps.",
    ),
}


@dataclass(frozen=True)
class Example:
    """A record with a problem."""

    row: int
    name: str
    detail: str


@dataclass
class Problem:
    """How often a problem occurs in an input, and the first records that have it."""

    code: str
    count: int = 0
    examples: list[Example] = field(default_factory=list)

    @property
    def kind(self) -> ProblemKind:
        """The table's entry for this code."""
        return PROBLEMS[self.code]

    @property
    def message(self) -> str:
        """The sentence for the user, with the count."""
        return self.kind.message.format(n=f"{self.count:,}")


class ProblemLog:
    """The problems of one input, by code, in the order of the table."""

    def __init__(self) -> None:
        self._problems: dict[str, Problem] = {}

    def count(self, code: str) -> int:
        """How often this problem occurred."""
        problem = self._problems.get(code)
        return problem.count if problem else 0

    def add(self, code: str, count: int = 1) -> None:
        """Count a problem."""
        if count:
            self._problems.setdefault(code, Problem(code)).count += count

    def replace(self, code: str, by: str) -> None:
        """Drop a problem of some records, since it is one of the whole file."""
        self._problems.pop(code, None)
        self.add(by)

    def wants_example(self, code: str) -> bool:
        """Whether there is still room for an example."""
        problem = self._problems.get(code)
        most = MAX_PLACES_OF_DAMAGE if code in _DAMAGE else MAX_EXAMPLES
        return problem is None or len(problem.examples) < most

    def add_example(self, code: str, example: Example) -> None:
        """Name a record of a problem that has been counted."""
        self._problems[code].examples.append(example)

    def all(self) -> list[Problem]:
        """Return the problems found."""
        return [self._problems[code] for code in PROBLEMS if code in self._problems]
