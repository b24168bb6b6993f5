"""bad_inputs.tsv describes what happens; docs/bad-inputs.md says it by kinds."""

from __future__ import annotations

from pathlib import Path

from bad_inputs import table


def test_every_bad_input_has_the_outcome_and_the_problems_of_the_table() -> None:
    written = (Path(__file__).parent / "bad_inputs.tsv").read_text(encoding="utf-8").splitlines()
    assert written == table()
    assert sum(line.count("\t") - 1 for line in written) >= 140
