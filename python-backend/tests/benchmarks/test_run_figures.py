from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from benchmarks.predict.result_tables import TABLES, table_hashes, unequal_tables
from benchmarks.predict.run_figures import DonePart, run_figures, steady_state

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "electron" / "engine" / "store" / "sqlite" / "runSchema.ts"


def test_steady_state_excludes_a_slow_beginning_and_end() -> None:
    # 10 parts per second of 1,000 residues each; the first comes late, the last ones are slow.
    times = [5_000, *(5_000 + 100 * i for i in range(1, 96)), *(20_000 + 1000 * i for i in range(4))]
    steady = steady_state([DonePart(time, 0.1, 1_000, 20) for time in times])
    assert steady is not None
    assert steady.residues_per_second == pytest.approx(10_000)
    assert steady.frames_per_second == pytest.approx(200)
    assert steady.parts == 70


@pytest.mark.parametrize("offset", [0, 7, 480, 993])
def test_steady_state_sums_devices_whenever_their_parts_begin(offset: int) -> None:
    fast = [DonePart(100 * i, 0.1, 1_000, 10) for i in range(1, 101)]
    slow = [DonePart(1000 * i + offset, 1.0, 1_000, 10) for i in range(11)]
    steady = steady_state(fast + slow)
    assert steady is not None
    assert steady.residues_per_second == pytest.approx(11_000)
    assert steady.frames_per_second == pytest.approx(110)


def test_too_few_parts_have_no_steady_state() -> None:
    assert steady_state([]) is None
    assert steady_state([DonePart(1000, 1.0, 5, 1)]) is None


def empty_run_database(folder: Path) -> sqlite3.Connection:
    """Make a run's database with the engine's tables, taken from the engine's source."""
    database = sqlite3.connect(folder / "run.db")
    (tables,) = re.findall(r"^const TABLES = `(.*?)`;", SCHEMA.read_text(), flags=re.S | re.M)
    # The table of sequences and its indexes are composed in TypeScript; no figure needs them.
    database.executescript(re.sub(r"^(CREATE )?\$\{.*?\};?$", "", tables, flags=re.M))
    return database


def test_reads_the_figures_of_a_run_folder(tmp_path: Path) -> None:
    with empty_run_database(tmp_path) as db:
        for number in range(20):
            key = f"{number:06d}"
            db.execute(
                "INSERT INTO part (id, key, number, sha256, frame_begin, frame_end, frames, residues,"
                " chunks, first_row, last_row, round, state, seconds) VALUES (?, ?, ?, '', 0, 4, 4, 600, 4,"
                " 0, 3, 0, 'done', 0.5)",
                (number, key, number),
            )
            for outcome, ended in (("interrupted", 1), ("done", 10_000 + 500 * number)):
                db.execute(
                    "INSERT INTO attempt (part, device, worker_pid, started_at, ended_at, outcome)"
                    " VALUES (?, 'GPU-1', 1, 0, ?, ?)",
                    (key, ended, outcome),
                )
        for second in range(30):
            busy = 99 if 12 <= second < 19 else 10
            db.execute(
                "INSERT INTO device_sample VALUES ('GPU-1', ?, ?, ?, 1, 1, 1, 1)",
                (1000 * second, busy, 2**30),
            )
        for time, phase in ((1, "created"), (20_000, "finishing"), (21_000, "done")):
            db.execute(
                "INSERT INTO event (time, level, code, message) VALUES (?, 'info', 'phase', ?)", (time, phase)
            )
    figures = run_figures(tmp_path, started=2.0, ended=25.0)
    assert (figures.parts, figures.frames, figures.residues) == (20, 80, 12_000)
    assert figures.seconds_to_first_tokens == pytest.approx(7.5)
    assert figures.steady is not None
    assert figures.steady.residues_per_second == pytest.approx(1_200)
    (gpu,) = figures.gpus
    assert (gpu.device, gpu.parts, gpu.memory_gib, gpu.power_w) == ("GPU-1", 20, 1, 1)
    assert gpu.busy_percent == pytest.approx(99)
    assert figures.seconds_from_last_part_to_tables == pytest.approx(1.5)
    assert figures.seconds_total == 23


def test_an_unfinished_run_has_no_figures(tmp_path: Path) -> None:
    empty_run_database(tmp_path).close()
    with pytest.raises(ValueError, match="its end"):
        run_figures(tmp_path, 0, 1)


def test_different_and_missing_tables_are_named(tmp_path: Path) -> None:
    for run in ("one", "other"):
        (tmp_path / run).mkdir()
        for name in TABLES:
            (tmp_path / run / name).write_text(f"{name}\n")
    assert unequal_tables(table_hashes(tmp_path / "one"), table_hashes(tmp_path / "other")) == []
    (tmp_path / "other" / "chunks.tsv").write_text("chunks.tsv\n ")
    (tmp_path / "other" / "sequences.tsv").unlink()
    unequal = unequal_tables(table_hashes(tmp_path / "one"), table_hashes(tmp_path / "other"))
    assert unequal == ["sequences.tsv", "chunks.tsv"]


def test_all_result_files_except_run_json_are_compared() -> None:
    source = (ROOT / "electron" / "contract" / "results.ts").read_text()
    (listed,) = re.findall(r"RESULT_FILES = \{(.*?)\} as const", source, flags=re.S)
    assert set(re.findall(r"'(.+?)'", listed)) - {"run.json"} == set(TABLES)
