"""Reads an input file as decompressed blocks, and computes the SHA-256 of the bytes on disk.

The compression is recognised by the first bytes, not by the name.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import lzma
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from xopen import xopen

from virnucpro_backend.prepare.failures import PrepareError

Compression = Literal["none", "gzip", "bzip2", "xz", "lzma", "zstd"]

BLOCK_BYTES = 1 << 20

_SECONDS_BETWEEN_SIGNS = 5.0

_FIRST_BYTES = 64
_MAGIC: tuple[tuple[re.Pattern[bytes], Compression], ...] = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    (re.compile(rb"BZh"), "bzip2"),
    (re.compile(rb"\xfd7zXZ\x00"), "xz"),
    # LZMA has no signature: the usual properties, and a dictionary whose size ends in two zero bytes.
    (re.compile(rb"\x5d\x00\x00"), "lzma"),
    # A frame of Zstandard, or one that readers skip: pzstd writes one before each of its frames.
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd"),
)
_XOPEN_FORMATS = {"gzip": "gz", "bzip2": "bz2", "xz": "xz", "lzma": "xz", "zstd": "zst"}

# BGZF, the gzip of samtools and bgzip: the extra field BC gives the size of each block, and an empty block
# marks the end (SAM specification, section 4.1).
_BGZF = re.compile(rb"\x1f\x8b\x08\x04.{8}BC\x02\x00", re.DOTALL)
_BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


_give_sign: Callable[[], None] | None = None


def tell_of_reading(tell: Callable[[], None]) -> None:
    """Call `tell` every few seconds while this process reads inputs, from the reading thread."""
    global _give_sign
    next_at = time.monotonic() + _SECONDS_BETWEEN_SIGNS

    def give() -> None:
        nonlocal next_at
        now = time.monotonic()
        if now >= next_at:
            next_at = now + _SECONDS_BETWEEN_SIGNS
            tell()

    _give_sign = give


def _damage_errors() -> tuple[type[Exception], ...]:
    """The errors for bad data of those decompressors that xopen finds on this computer."""
    errors: list[type[Exception]] = [lzma.LZMAError, zlib.error]
    for module, name in (
        ("isal.isal_zlib", "error"),
        ("zlib_ng.zlib_ng", "error"),
        ("compression.zstd", "ZstdError"),
        ("backports.zstd", "ZstdError"),
    ):
        try:
            errors.append(getattr(importlib.import_module(module), name))
        except ImportError:
            continue
    return tuple(errors)


_DAMAGE_ERRORS = _damage_errors()


class InputFile:
    """One pass over an input. Use as a context manager, then read `blocks()` to the end.

    Raises PrepareError: `input_unreadable` if the file can't be opened, read or unpacked, `input_truncated`
    if a compressed file ends too early. The blocks that a truncated file does yield are correct.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with _reading():
                if path.is_dir():
                    raise IsADirectoryError(None, "it is a folder")
                self._raw = _HashingReader(path)
        except PrepareError as error:
            error.file = path.name
            raise
        self.bytes_total = os.fstat(self._raw.fileno()).st_size
        self.compression = compression_of(self._raw.first_bytes)

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, PrepareError):
            error.file = self.path.name
        self._raw.close()

    @property
    def bytes_read(self) -> int:
        """Bytes of the file on disk (compressed) that have been read."""
        return self._raw.bytes_read

    @property
    def lacks_end_block(self) -> bool:
        """Whether the bytes read so far are of a BGZF file and do not end with its end block."""
        return _BGZF.match(self._raw.first_bytes) is not None and self._raw.last_bytes != _BGZF_END

    def blocks(self) -> Iterator[bytes]:
        """Yield decompressed blocks of BLOCK_BYTES, the last one shorter. Can be called once."""
        with _reading():
            stream: BinaryIO = cast(BinaryIO, self._raw)
            if self.compression != "none":
                stream = xopen(cast(Any, self._raw), "rb", threads=0, format=_XOPEN_FORMATS[self.compression])
            while block := _read_full(stream):
                yield block
            # Decompressors may stop before trailing padding, but the hash covers the entire file.
            while _read_full(cast(BinaryIO, self._raw)):
                pass

    def sha256(self) -> str:
        """SHA-256 of the bytes read so far; of the entire file once `blocks()` has ended."""
        return self._raw.sha256()


class _HashingReader(io.RawIOBase):
    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._digest = hashlib.sha256()
        self.bytes_read = 0
        self.first_bytes = os.read(self._file.fileno(), _FIRST_BYTES)
        self.last_bytes = b""
        self._ahead = self.first_bytes

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._ahead:
            count = min(len(view), len(self._ahead))
            view[:count] = self._ahead[:count]
            self._ahead = self._ahead[count:]
        else:
            count = self._file.readinto(view) or 0
        self._digest.update(view[:count])
        self.last_bytes = (self.last_bytes + bytes(view[:count][-len(_BGZF_END) :]))[-len(_BGZF_END) :]
        self.bytes_read += count
        if _give_sign is not None:
            _give_sign()
        return count

    def sha256(self) -> str:
        return self._digest.hexdigest()


def compression_of(first_bytes: bytes) -> Compression:
    """The compression that this module can undo, by the first bytes of the data."""
    return next((name for magic, name in _MAGIC if magic.match(first_bytes)), "none")


def _read_full(stream: BinaryIO) -> bytes:
    # Always fill blocks, so that work per block doesn't depend on the sizes a decompressor returns.
    pieces = []
    missing = BLOCK_BYTES
    while missing and (piece := stream.read(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except EOFError:
        raise PrepareError("input_truncated") from None
    except _DAMAGE_ERRORS as error:
        raise PrepareError("input_damaged", reason=str(error)) from None
    except OSError as error:
        if error.errno is None and not isinstance(error, IsADirectoryError):
            # gzip and bz2 report bad data as an OSError without a number.
            raise PrepareError("input_damaged", reason=str(error)) from None
        raise PrepareError("input_unreadable", reason=error.strerror or str(error)) from None
