"""The table of docs/bad-inputs.md describes what happens."""

from __future__ import annotations

from pathlib import Path

from bad_inputs import rows

DOCUMENT = Path(__file__).parents[3] / "docs" / "bad-inputs.md"


def test_every_bad_input_has_the_outcome_and_the_message_of_the_table() -> None:
    _, table = DOCUMENT.read_text(encoding="utf-8").split("| case ")
    lines = [line for line in table.splitlines()[2:] if line.startswith("|")]
    written = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert written == rows()
    assert len(written) >= 140
