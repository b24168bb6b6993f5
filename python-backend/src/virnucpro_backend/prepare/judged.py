"""Counts what chunks of each length can judge of an input, from its letters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from virnucpro_backend.prepare.arrays import BoolArray, IntArray, offsets_of
from virnucpro_backend.prepare.chunking import WINDOW_BASES, chunk_table
from virnucpro_backend.prepare.frames import GeneticCode, StopCodons
from virnucpro_backend.prepare.records.survey import Letters


@dataclass
class Judged:
    """What is judged of a file by chunks of the first length and, within those without an open frame, by
    chunks of the second, if there is one.

    sequences: those with an open frame; bases: those of chunks with an open frame, each once; frames and
    residues: the open frames and their residues.
    """

    chunk_lengths: tuple[int, ...]
    sequences: int = 0
    bases: float = 0
    chunks: float = 0
    frames: float = 0
    residues: float = 0

    def include(self, other: Judged, times: float = 1) -> None:
        """Add the counts of another part of the file, all but the sequences `times` over."""
        self.sequences += other.sequences
        self.bases += other.bases * times
        self.chunks += other.chunks * times
        self.frames += other.frames * times
        self.residues += other.residues * times


class JudgedCounts:
    """Counts for several looks at once: one or two chunk lengths each, by name."""

    def __init__(self, chunk_lengths: Mapping[str, Sequence[int]], code: GeneticCode) -> None:
        self._code = code
        self.looks = {name: Judged(tuple(lengths)) for name, lengths in chunk_lengths.items()}

    def add(self, letters: Letters, lengths: IntArray, chunked_lengths: IntArray) -> None:
        """Add a group. lengths: bases of its records [k]; chunked_lengths: the same, or 0 if left out.

        All its letters are readable, or it is a single record of which only the beginning was kept. Such a
        record has millions of bases: it counts as judged, and its other counts are extrapolated.
        """
        origins = offsets_of(lengths)
        if letters.readable == origins[-1]:
            for first, end in _windows(origins):
                begin = int(origins[first])
                stops = StopCodons(letters.read(begin, int(origins[end])), self._code)
                self._add(stops, origins[first:end] - begin, chunked_lengths[first:end])
        elif chunked_lengths.any():
            lengths_of = {name: look.chunk_lengths for name, look in self.looks.items()}
            beginning = JudgedCounts(lengths_of, self._code)
            readable = np.array([letters.readable])
            stops = StopCodons(letters.read(0, letters.readable), self._code)
            beginning._add(stops, np.zeros(1, np.int64), readable)
            for name, look in self.looks.items():
                part = beginning.looks[name]
                part.sequences = 1
                look.include(part, int(lengths[0]) / letters.readable)

    def _add(self, stops: StopCodons, origins: IntArray, lengths: IntArray) -> None:
        """Add records of `lengths` bases that begin at `origins` in the letters, both [k]."""
        whole = _Spans(np.arange(lengths.size), origins, lengths)
        found: dict[int, tuple[Judged, _Spans, _Spans]] = {}
        for look in self.looks.values():
            first, *second = look.chunk_lengths
            if first not in found:
                found[first] = _look_into(whole.cut(first), stops)
            counts, judged, closed = found[first]
            look.include(counts)
            for shorter in second:
                counts, added, _ = _look_into(closed.at(closed.length > shorter).cut(shorter), stops)
                look.include(counts)
                judged = judged.together(added)
            look.sequences += int(np.unique(judged.record).size)
            look.bases += judged.bases()


@dataclass(frozen=True)
class _Spans:
    """Spans of letters, ordered by start: their records, starts and lengths, int64 [m]."""

    record: IntArray
    start: IntArray
    length: IntArray

    def at(self, places: BoolArray) -> _Spans:
        return _Spans(self.record[places], self.start[places], self.length[places])

    def cut(self, chunk_length: int) -> _Spans:
        """Cut each into chunks, as if it were a sequence."""
        table = chunk_table(self.length, chunk_length)
        return _Spans(self.record[table.record], self.start[table.record] + table.start, table.length)

    def together(self, others: _Spans) -> _Spans:
        start = np.concatenate([self.start, others.start])
        order = np.argsort(start, kind="stable")
        return _Spans(
            np.concatenate([self.record, others.record])[order],
            start[order],
            np.concatenate([self.length, others.length])[order],
        )

    def bases(self) -> int:
        """How many letters they cover."""
        end = np.maximum.accumulate(self.start + self.length)
        return int((end - np.maximum(self.start, np.concatenate([[0], end[:-1]]))).clip(0).sum())


def _look_into(chunks: _Spans, stops: StopCodons) -> tuple[Judged, _Spans, _Spans]:
    """Count chunks and open frames; return also the chunks with an open frame, and those without."""
    residues = stops.residues(chunks.start, chunks.length)
    is_open = residues.max(axis=1) > 0
    found = Judged((), 0, 0, chunks.record.size, int(np.count_nonzero(residues)), int(residues.sum()))
    return found, chunks.at(is_open), chunks.at(~is_open)


def _windows(origins: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of records with as many bases as stay in the cache, or one with more."""
    first = 0
    while first < origins.size - 1:
        fitting = int(np.searchsorted(origins, origins[first] + WINDOW_BASES, side="right")) - 1
        end = max(fitting, first + 1)
        yield first, end
        first = end
