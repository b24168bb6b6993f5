"""Streams of lines in files: order, wholeness, bounds, and a disk that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from virnucpro_backend.cluster import mailbox
from virnucpro_backend.cluster.mailbox import (
    UNREAD_SEGMENTS,
    LineReader,
    LineTooLongError,
    LineWriter,
    Sign,
    SignFile,
    check_private,
    segment_path,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="clusters' nodes run Linux")


def test_lines_come_in_order_and_each_once_over_many_files(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "box", "events", segment_bytes=100)
    reader = LineReader(tmp_path / "box", "events")
    assert reader.read() == []
    sent = [f'{{"n":{number},"β":"{"x" * (number % 30)}"}}'.encode() for number in range(200)]
    got: list[bytes] = []
    for start in range(0, 200, 7):
        assert writer.write(sent[start : start + 7])
        if start % 3 == 0:
            got += reader.read() + reader.read()
    while lines := reader.read():
        got += lines
    assert got == sent
    assert len(list((tmp_path / "box").iterdir())) <= 1  # What has been read is removed.


def test_half_a_line_and_bytes_that_have_not_arrived_wait(tmp_path: Path) -> None:
    reader = LineReader(tmp_path, "events")
    path = segment_path(tmp_path, "events", 1)
    path.write_bytes(b"one\ntw")
    assert reader.read() == [b"one"]
    path.write_bytes(b"one\ntwo\n\0\0\0\0\nfive\n")
    assert reader.read() == [b"two"]
    assert reader.read() == []
    path.write_bytes(b"one\ntwo\nfour\nfive\n")
    assert reader.read() == [b"four", b"five"]


def test_a_line_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    segment_path(tmp_path, "events", 1).write_bytes(b"x" * 1000)
    with pytest.raises(LineTooLongError):
        LineReader(tmp_path, "events", block_bytes=1000).read()


def test_a_writer_far_ahead_of_its_reader_is_to_wait(tmp_path: Path) -> None:
    writer, reader = LineWriter(tmp_path / "box", "e", segment_bytes=10), LineReader(tmp_path / "box", "e")
    written = 0
    while not writer.is_ahead:
        assert writer.write([b"0123456789"])
        written += 1
    assert written == UNREAD_SEGMENTS
    assert reader.read()
    assert not writer.is_ahead


def test_what_a_full_disk_refused_is_written_later_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = LineWriter(tmp_path / "box", "e", segment_bytes=8), LineReader(tmp_path / "box", "e")
    real = os.pwrite

    def half(fd: int, data: bytes, offset: int) -> int:
        real(fd, data[: len(data) // 2], offset)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mailbox.os, "pwrite", half)
    assert not writer.write([b"one", b"two"])
    got = reader.read()
    assert not writer.write([b"three"])
    monkeypatch.setattr(mailbox.os, "pwrite", real)
    assert writer.write([b"four"])
    while lines := reader.read():
        got += lines
    assert got == [b"one", b"two", b"three", b"four"]


def test_the_sign_is_what_was_written_last(tmp_path: Path) -> None:
    file = SignFile(tmp_path)
    assert file.read() is None
    for sign in (Sign(1, 0, False), Sign(1, 2000, False), Sign(12, 3, True), Sign(12, 4, False)):
        file.write(sign)
        assert file.read() == sign
    (tmp_path / "pool").write_text("0000")
    assert file.read() is None


def test_a_folder_is_closed_to_others_and_a_link_is_refused(tmp_path: Path) -> None:
    open_to_all = tmp_path / "box"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(PermissionError):
        check_private(open_to_all)
    LineWriter(open_to_all, "events")
    check_private(open_to_all)
    (tmp_path / "link").symlink_to(open_to_all)
    with pytest.raises(PermissionError):
        LineWriter(tmp_path / "link", "events")
