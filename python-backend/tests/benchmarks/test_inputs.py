from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from plain_definition import frames_of_sequence

from benchmarks.inputs.__main__ import main
from benchmarks.inputs.sampling import draw_lengths, draw_pieces
from benchmarks.inputs.sources import Sources, read_sources

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def write_sources(path: Path, lengths: list[int], seed: int = 0) -> list[str]:
    random = np.random.RandomState(seed)
    texts = ["".join(random.choice(list("ACGT"), length)) for length in lengths]
    lines = [
        f">s{i}\n" + "\n".join(text[a : a + 60] for a in range(0, len(text), 60))
        for i, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + "\n")
    return texts


def read_fasta(path: Path) -> list[tuple[str, str]]:
    blocks = path.read_text().split(">")[1:]
    return [(block.split("\n", 1)[0], block.split("\n", 1)[1].replace("\n", "")) for block in blocks]


def run(*words: object) -> None:
    assert main([str(word) for word in words]) == 0


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    write_sources(tmp_path / "s.fa", [900, 400, 2000])
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run("reads", "--from", tmp_path / "s.fa", "--count", 50, "--seed", seed, "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("kind", ["reads", "contigs"])
def test_pieces_come_from_where_their_header_says(tmp_path: Path, kind: str) -> None:
    texts = write_sources(tmp_path / "s.fa", [900, 149, 150, 2000])
    sizes = ["--length", 150] if kind == "reads" else ["--shortest", 200, "--longest", 1900]
    words = [kind, "--from", tmp_path / "s.fa", "--count", 300, "--substitutions", 0, *sizes]
    run(*words, "-o", tmp_path / "out.fa")
    seen = set()
    for number, (header, sequence) in enumerate(read_fasta(tmp_path / "out.fa")):
        name, place = header.split()
        source, span, strand = place.split(":")
        first, last = map(int, span.split("-"))
        expected = texts[int(source) - 1][first - 1 : last]
        if strand == "-":
            expected = expected.translate(COMPLEMENT)[::-1]
        assert name == f"{kind[:-1]}_{number + 1}"
        assert sequence == expected
        assert len(sequence) == 150 or kind == "contigs"
        seen.add((int(source), strand))
    assert len(seen) >= 4
    assert all(source != 2 for source, _ in seen)


def test_every_place_is_equally_likely() -> None:
    sources = Sources(np.tile(np.frombuffer(b"ACGT", np.uint8), 8), np.array([3, 5, 14, 10]))
    lengths = np.full(70_000, 4)
    counts: dict[tuple[int, int], int] = {}
    for pieces in draw_pieces(sources, lengths, 0.0, np.random.RandomState(3)):
        for key in zip(pieces.record.tolist(), pieces.start.tolist(), strict=True):
            counts[key] = counts.get(key, 0) + 1
    places = {(1, s) for s in range(2)} | {(2, s) for s in range(11)} | {(3, s) for s in range(7)}
    assert set(counts) == places
    expected = lengths.size / len(places)
    assert max(abs(count - expected) for count in counts.values()) < 6 * expected**0.5


def test_two_percent_of_the_bases_become_another_base() -> None:
    random = np.random.RandomState(4)
    letters = np.frombuffer(b"ACGTN", np.uint8)[random.randint(0, 5, 1_000_000)]
    sources = Sources(letters, np.array([letters.size]))
    (pieces,) = draw_pieces(sources, np.array([letters.size]), 0.02, np.random.RandomState(5))
    assert not pieces.reverse[0] or pieces.start[0] == 0
    (same,) = draw_pieces(sources, np.array([letters.size]), 0.0, np.random.RandomState(5))
    changed = pieces.letters != same.letters
    assert pieces.substitutions == changed.sum()
    assert changed.sum() / (same.letters != ord("N")).sum() == pytest.approx(0.02, abs=0.001)
    assert not changed[same.letters == ord("N")].any()
    # Each of the other three bases is equally likely to replace a base.
    for base in b"ACGT":
        _, counts = np.unique(pieces.letters[changed & (same.letters == base)], return_counts=True)
        assert len(counts) == 3
        assert counts.max() / counts.min() < 1.2


def test_counts_match_a_slow_definition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sources(tmp_path / "s.fa", [700, 1200])
    words = ["reads", "--from", tmp_path / "s.fa", "--count", 200, "--length", 60, "--json"]
    words += ["--substitutions", 0]
    run(*words, "-o", tmp_path / "out.fa")
    counts = json.loads(capsys.readouterr().out)
    sequences = [sequence for _, sequence in read_fasta(tmp_path / "out.fa")]
    proteins = [frame.protein for sequence in sequences for frame in frames_of_sequence(sequence, 500)]
    assert counts["records"] == counts["chunks"] == 200
    assert counts["bases"] == 12_000
    assert counts["frames"] == len(proteins) > 50
    assert counts["residues"] == sum(map(len, proteins))
    assert counts["distinct_proteins"] == len(set(proteins)) < len(proteins)


def test_contig_lengths_are_spread_over_their_range() -> None:
    lengths = draw_lengths(20_000, 1000, 10_000, np.random.RandomState(6))
    assert lengths.min() >= 1000
    assert lengths.max() <= 10_000
    assert np.median(lengths) == pytest.approx(10**3.5, rel=0.03)


def test_pieces_longer_than_every_source_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sources(tmp_path / "s.fa", [100])
    words = ["reads", "--from", tmp_path / "s.fa", "--count", 1, "-o", tmp_path / "out.fa"]
    assert main([str(word) for word in words]) == 1
    assert "100 bases" in capsys.readouterr().err


def test_sources_are_read_from_several_files(tmp_path: Path) -> None:
    first = write_sources(tmp_path / "a.fa", [70, 61])
    second = write_sources(tmp_path / "b.fa", [5], seed=9)
    sources = read_sources([tmp_path / "a.fa", tmp_path / "b.fa"])
    assert sources.letters.tobytes().decode() == "".join(first + second)
    assert sources.lengths.tolist() == [70, 61, 5]


def test_copies_repeat_recent_pieces(tmp_path: Path) -> None:
    write_sources(tmp_path / "s.fa", [5000])
    run("reads", "--from", tmp_path / "s.fa", "--count", 2000, "--copies", 0.3, "-o", tmp_path / "out.fa")
    records = [(header.split()[1], sequence) for header, sequence in read_fasta(tmp_path / "out.fa")]
    n_copies, seen = 0, set[tuple[str, str]]()
    for record in records:
        n_copies += record in seen
        seen.add(record)
    assert n_copies / len(records) == pytest.approx(0.3, abs=0.03)
