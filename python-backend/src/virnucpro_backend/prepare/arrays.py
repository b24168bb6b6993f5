"""Array operations shared by reading, chunking and translating."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
HashArray = npt.NDArray[np.uint64]


def translate(values: ByteArray, table: bytes, delete: bytes = b"") -> ByteArray:
    """Map each byte through a table of 256 after dropping the bytes in `delete`; the result is read-only.

    `bytes.translate` takes half the time of indexing a table with an array, which widens every index to 64
    bits.
    """
    return np.frombuffer(values.tobytes().translate(table, delete), np.uint8)


def splitmix64(seed: int, places: IntArray) -> HashArray:
    """Return the numbers at these places, from 0, of the generator SplitMix64 (Steele, Lea, Flood 2014).

    It is written out here so that no change of a library's generator can change it.
    """
    z = np.uint64(seed) + (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    numbers: HashArray = z ^ (z >> np.uint64(31))
    return numbers


def offsets_of(counts: IntArray) -> IntArray:
    """Turn counts [n] into offsets [n + 1]: where each group begins, and the end of the last."""
    offsets = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ragged_indices(first: IntArray, counts: IntArray, step: IntArray | int = 1) -> IntArray:
    """Return the indices first[i], first[i] + step[i], ... (counts[i] of them) for every i, in order.

    first, counts, step: [n]; the result has counts.sum() elements.
    """
    begin = offsets_of(counts)[:-1]
    if isinstance(step, int):
        return np.repeat(first - begin * step, counts) + np.arange(int(counts.sum())) * step
    return np.repeat(first - begin * step, counts) + np.arange(int(counts.sum())) * np.repeat(step, counts)


def ragged_slices(data: bytes, first: IntArray, counts: IntArray) -> ByteArray:
    """Join the slices data[first[i] : first[i] + counts[i]]; the result is read-only.

    From about ten bytes per slice, this is faster than gathering by index, which needs an index per byte.
    """
    slices = map(slice, first.tolist(), (first + counts).tolist())
    return np.frombuffer(b"".join(map(data.__getitem__, slices)), np.uint8)
