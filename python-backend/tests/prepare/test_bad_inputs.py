"""bad_inputs.tsv describes what happens; docs/bad-inputs.md says it by kinds."""

from __future__ import annotations

from pathlib import Path

from bad_inputs import rows

TABLE = Path(__file__).parent / "bad_inputs.tsv"


def test_every_bad_input_has_the_outcome_and_the_message_of_the_table() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    assert [tuple(line.split("\t")) for line in lines] == rows()
    assert len(lines) >= 140
