"""Problems of an input that don't end a run, counted. Their words are in electron/contract/problems.ts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from virnucpro_backend.problem_codes import ProblemCode

MAX_EXAMPLES = 5
# Of damage, since failed_records.tsv says where each is.
MAX_PLACES_OF_DAMAGE = 1_000
_DAMAGE = ("malformed_record", "invalid_characters", "passed_over")


@dataclass(frozen=True)
class Example:
    """A record with a problem."""

    row: int
    name: str
    detail: str


@dataclass
class Problem:
    """How often a problem occurs in an input, and the first records that have it."""

    code: ProblemCode
    count: int = 0
    examples: list[Example] = field(default_factory=list)


class ProblemLog:
    """The problems of one input, by code, in the order of the contract's list."""

    def __init__(self) -> None:
        self._problems: dict[ProblemCode, Problem] = {}

    def count(self, code: ProblemCode) -> int:
        """How often this problem occurred."""
        problem = self._problems.get(code)
        return problem.count if problem else 0

    def add(self, code: ProblemCode, count: int = 1) -> None:
        """Count a problem."""
        if count:
            self._problems.setdefault(code, Problem(code)).count += count

    def replace(self, code: ProblemCode, by: ProblemCode) -> None:
        """Drop a problem of some records, since it is one of the whole file."""
        self._problems.pop(code, None)
        self.add(by)

    def wants_example(self, code: ProblemCode) -> bool:
        """Whether there is still room for an example."""
        problem = self._problems.get(code)
        most = MAX_PLACES_OF_DAMAGE if code in _DAMAGE else MAX_EXAMPLES
        return problem is None or len(problem.examples) < most

    def add_example(self, code: ProblemCode, example: Example) -> None:
        """Name a record of a problem that has been counted."""
        self._problems[code].examples.append(example)

    def all(self) -> list[Problem]:
        """Return the problems found."""
        return [self._problems[code] for code in get_args(ProblemCode) if code in self._problems]
