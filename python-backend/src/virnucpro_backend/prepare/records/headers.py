"""Decodes header lines, says where their names end, and finds repeated names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from virnucpro_backend.prepare.arrays import ByteArray, HashArray, IntArray, offsets_of, splitmix64, translate

# Ten million names take 80 MB of hashes, and 200 MB more while they are sorted.
MAX_COMPARED_NAMES = 10_000_000

_HASHED_BYTES = 4096

_BLANKS = b" \t"
_IS_BLANK = bytes(byte in _BLANKS for byte in range(256))
_PLAIN = bytes(byte for byte in range(256) if chr(byte).isprintable() and byte < 128) + b"\t"

# Other than a tabulator: the blanks of the original tool, which are those of str.split().
_OTHER_BLANK = re.compile(r"[^\S\t]")
# They would control a terminal, change the direction of text, or not be allowed in XML.
_UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def decoded(header: bytes) -> str:
    """Decode a header line: as UTF-8, or as Latin-1 if it is not UTF-8.

    Every blank but a tabulator becomes a space, except those before the first word, which are left out. What
    can't be shown is written as its number, such as \\u0001.
    """
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    text = _OTHER_BLANK.sub(" ", text).lstrip()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def readable_header(header: bytes, number: int) -> bytes:
    """Return a header line in UTF-8 as all tables and files show it. It begins with the name of its record.

    number: of the record in its file, counted from 0. Without a name it is called unnamed_1 or unnamed_2 and
    so on, by its place in the file.
    """
    return decoded(header).encode() or b"unnamed_%d" % (number + 1)


@dataclass(frozen=True)
class Headers:
    """Readable header lines, end to end. counts: bytes of each, int64 [n]."""

    text: bytes
    counts: IntArray

    @classmethod
    def read(cls, headers: bytes, counts: IntArray, first: int) -> Headers:
        """Make lines [n] of a file readable: see `readable_header`. first: the number of the first one."""
        offsets = offsets_of(counts)
        data = np.frombuffer(headers, np.uint8)
        first_bytes = np.append(data, np.uint8(_BLANKS[0]))[offsets[:-1]]
        is_readable = (counts > 0) & (translate(first_bytes, _IS_BLANK) == 0)
        if headers.translate(None, _PLAIN):
            unusual = np.flatnonzero(np.isin(data, np.frombuffer(_PLAIN, np.uint8), invert=True))
            is_readable[np.searchsorted(offsets, unusual, side="right") - 1] = False
        if is_readable.all():
            return cls(headers, counts)
        pieces = [headers[begin:end] for begin, end in pairwise(offsets.tolist())]
        for place in np.flatnonzero(~is_readable).tolist():
            pieces[place] = readable_header(pieces[place], first + place)
        return cls(b"".join(pieces), np.fromiter(map(len, pieces), np.int64, len(pieces)))

    @cached_property
    def offsets(self) -> IntArray:
        """Where each header line begins, and the end of the last, int64 [n + 1]."""
        return offsets_of(self.counts)

    @cached_property
    def name_counts(self) -> IntArray:
        """Bytes of each name, int64 [n]: a header line begins with it, and it ends at the first blank."""
        blanks = np.flatnonzero(translate(np.frombuffer(self.text, np.uint8), _IS_BLANK))
        begins = self.offsets[:-1]
        next_blank = np.append(blanks, len(self.text))[np.searchsorted(blanks, begins)]
        return np.minimum(next_blank - begins, self.counts)

    def name(self, place: int) -> str:
        """The name in one of these header lines."""
        begin = int(self.offsets[place])
        return self.text[begin : begin + int(self.name_counts[place])].decode("utf-8")

    @cached_property
    def name_hashes(self) -> HashArray:
        """A 64-bit hash of each name, uint64 [n]."""
        return _hashes(np.frombuffer(self.text, np.uint8), self.offsets[:-1], self.name_counts)

    @property
    def fragment_hashes(self) -> HashArray:
        """A 64-bit hash of each name without a final /1 or /2, which mates don't share, uint64 [n]."""
        hashes: HashArray = self.name_hashes
        text = np.frombuffer(self.text, np.uint8)
        marked = np.flatnonzero(self.name_counts > len("/1"))
        last = self.offsets[marked] + self.name_counts[marked] - 1
        is_mark = (text[last - 1] == ord("/")) & ((text[last] == ord("1")) | (text[last] == ord("2")))
        if not is_mark.any():
            return hashes
        marked, last = marked[is_mark], last[is_mark]
        # The hash is a sum over the bytes.
        hashes = hashes.copy()
        for before_end in (1, 2):
            letter = text[last - (before_end - 1)].astype(np.uint64) + np.uint64(1)
            place = (self.name_counts[marked] - before_end) % _HASHED_BYTES
            hashes[marked] -= letter * _MULTIPLIERS[place]
        return hashes

    def hashes(self) -> HashArray:
        """A 64-bit hash of each whole header line, uint64 [n]."""
        return _hashes(np.frombuffer(self.text, np.uint8), self.offsets[:-1], self.counts)

    def split(self, count: int) -> tuple[Headers, Headers]:
        """Split off the first `count` header lines."""
        edge = int(self.offsets[count])
        first = Headers(self.text[:edge], self.counts[:count])
        return first, Headers(self.text[edge:], self.counts[count:])


def _hashes(data: ByteArray, begins: IntArray, lengths: IntArray) -> HashArray:
    """A 64-bit hash of so many bytes from each beginning on, uint64 [n].

    Multilinear hashing: the sum over the bytes b_i of (b_i + 1) * r_i modulo 2^64, with fixed odd random
    r_i (Lemire and Kaser, "Strongly universal string hashing is fast", 2014). Texts beyond 4,096 bytes
    repeat the r_i.
    """
    place = np.arange(int(lengths.sum())) - np.repeat(offsets_of(lengths)[:-1], lengths)
    word_bytes = data[place + np.repeat(begins, lengths)].astype(np.uint64) + np.uint64(1)
    terms = word_bytes * _MULTIPLIERS[place % _HASHED_BYTES]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    bounds = offsets_of(lengths)
    hashes: HashArray = sums[bounds[1:]] - sums[bounds[:-1]]
    return hashes


class RepeatedNames:
    """Finds rows whose name occurred in an earlier row, in bounded memory.

    It compares hashes: with ten million names, the probability of any collision is below 1e-3.
    """

    def __init__(self, limit: int = MAX_COMPARED_NAMES) -> None:
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
        """Rows (counted from the first one added) that repeat an earlier name, ascending."""
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


_MULTIPLIERS: HashArray = splitmix64(0, np.arange(_HASHED_BYTES)) | np.uint64(1)
