"""Decodes header lines, extracts their identifiers, and finds repeated identifiers."""

from __future__ import annotations

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, HashArray, IntArray, offsets_of, splitmix64, translate

# Ten million identifiers take 80 MB of hashes, and 200 MB more while they are sorted.
MAX_COMPARED_IDENTIFIERS = 10_000_000

_HASHED_BYTES = 4096
_IS_SPACE = bytes(byte in b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f" for byte in range(256))


def as_utf8(headers: bytes, counts: IntArray) -> tuple[bytes, IntArray]:
    """Return all headers as UTF-8, with byte counts [n]; those that are not UTF-8 are read as Latin-1."""
    if headers.isascii():
        return headers, counts
    pieces = _pieces(headers, counts)
    for number, piece in enumerate(pieces):
        if not piece.isascii():
            try:
                piece.decode("utf-8")
            except UnicodeDecodeError:
                pieces[number] = piece.decode("latin-1").encode("utf-8")
    return b"".join(pieces), np.array([len(piece) for piece in pieces], np.int64)


def identifier(header: str) -> str:
    """Return the first word of a header line, or an empty string if there is none."""
    return next(iter(header.split(maxsplit=1)), "")


def hash_identifiers(headers: bytes, counts: IntArray) -> HashArray:
    """A 64-bit hash of the first word of each header, uint64 [n]."""
    data = np.frombuffer(headers, np.uint8)
    return _hashes(data, *_first_words(data, counts))


def hash_headers(headers: bytes, counts: IntArray) -> HashArray:
    """A 64-bit hash of each whole header, uint64 [n]."""
    offsets = offsets_of(counts)
    return _hashes(np.frombuffer(headers, np.uint8), offsets[:-1], offsets[1:])


def _hashes(data: ByteArray, begins: IntArray, ends: IntArray) -> HashArray:
    """A 64-bit hash of the bytes between each beginning and end, uint64 [n].

    Multilinear hashing: the sum over the bytes b_i of (b_i + 1) * r_i modulo 2^64, with fixed odd random
    r_i (Lemire and Kaser, "Strongly universal string hashing is fast", 2014). Texts beyond 4,096 bytes
    repeat the r_i.
    """
    lengths = ends - begins
    place = np.arange(int(lengths.sum())) - np.repeat(offsets_of(lengths)[:-1], lengths)
    word_bytes = data[place + np.repeat(begins, lengths)].astype(np.uint64) + np.uint64(1)
    terms = word_bytes * _MULTIPLIERS[place % _HASHED_BYTES]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    bounds = offsets_of(lengths)
    hashes: HashArray = sums[bounds[1:]] - sums[bounds[:-1]]
    return hashes


class RepeatedIdentifiers:
    """Finds rows whose identifier occurred in an earlier row, in bounded memory.

    It compares hashes: with ten million identifiers, the probability of any collision is below 1e-3.
    """

    def __init__(self, limit: int = MAX_COMPARED_IDENTIFIERS) -> None:
        self._limit = limit
        self._hashes: list[HashArray] = []
        self._kept = 0
        self.not_compared = 0
        """How many rows came after the limit and were not compared."""

    def add(self, hashes: HashArray) -> None:
        """Add the hashes of the next rows, in order."""
        taken = hashes[: self._limit - self._kept]
        self._hashes.append(taken)
        self._kept += taken.size
        self.not_compared += hashes.size - taken.size

    def rows(self) -> IntArray:
        """Rows (counted from the first one added) that repeat an earlier identifier, ascending."""
        if not self._hashes:
            return np.zeros(0, np.int64)
        hashes = np.concatenate(self._hashes)
        self._hashes = [hashes]
        # A stable sort puts the earliest row of equal hashes first; the others repeat it.
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        is_repeat = np.zeros(order.size, np.bool_)
        np.equal(ordered[1:], ordered[:-1], out=is_repeat[1:])
        del ordered
        rows = order[is_repeat]
        del order
        rows.sort()
        return rows


def _pieces(data: bytes, counts: IntArray) -> list[bytes]:
    offsets = offsets_of(counts)
    return [data[begin:end] for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


def _first_words(data: ByteArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    offsets = offsets_of(counts)
    is_space = translate(data, _IS_SPACE)
    spaces, letters = np.flatnonzero(is_space), np.flatnonzero(is_space == 0)
    begins = np.minimum(_next_places(letters, offsets[:-1], data.size), offsets[1:])
    return begins, np.minimum(_next_places(spaces, begins, data.size), offsets[1:])


def _next_places(places: IntArray, at: IntArray, otherwise: int) -> IntArray:
    return np.append(places, otherwise)[np.searchsorted(places, at)]


_MULTIPLIERS: HashArray = splitmix64(0, np.arange(_HASHED_BYTES)) | np.uint64(1)
