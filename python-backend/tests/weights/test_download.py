from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Site, serving

from virnucpro_backend.weights.download import download
from virnucpro_backend.weights.errors import WeightsError

CONTENT = bytes(range(256)) * 40_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.files["/weights.pt"] = CONTENT
        yield site


class Pauses(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def test_goes_on_after_broken_connections(site: Site, tmp_path: Path) -> None:
    site.cut_after = [3_000_000, 2_000_000]
    seen: list[tuple[int, int | None]] = []
    pauses = Pauses()
    target = tmp_path / "a" / "weights.pt"
    url = f"{site.url}/weights.pt"
    download(
        url,
        target,
        size=len(CONTENT),
        sha256=SHA256,
        progress=lambda *now: seen.append(now),
        sleep=pauses,
    )
    assert target.read_bytes() == CONTENT
    assert site.ranges == [None, "bytes=3000000-", "bytes=5000000-"]
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(pauses) == 2
    assert list(target.parent.iterdir()) == [target]


def test_goes_on_where_an_earlier_process_stopped(site: Site, tmp_path: Path) -> None:
    (tmp_path / "weights.pt.part").write_bytes(CONTENT[:1_000_000])
    assert download(f"{site.url}/weights.pt", tmp_path / "weights.pt") == SHA256
    assert site.ranges == ["bytes=1000000-"]
    assert download(f"{site.url}/weights.pt", tmp_path / "weights.pt", sha256=SHA256) == SHA256
    assert len(site.ranges) == 1, "what is there and right is not fetched again"


def test_a_complete_part_needs_no_more_bytes(site: Site, tmp_path: Path) -> None:
    (tmp_path / "weights.pt.part").write_bytes(CONTENT)
    assert download(f"{site.url}/weights.pt", tmp_path / "weights.pt", sha256=SHA256) == SHA256


def test_a_server_without_ranges_starts_again(site: Site, tmp_path: Path) -> None:
    site.knows_ranges = False
    (tmp_path / "weights.pt.part").write_bytes(b"x" * 1000)
    assert download(f"{site.url}/weights.pt", tmp_path / "weights.pt", sha256=SHA256) == SHA256


def test_a_wrong_part_is_thrown_away_once(site: Site, tmp_path: Path) -> None:
    (tmp_path / "weights.pt.part").write_bytes(b"x" * 1_000_000)
    download(f"{site.url}/weights.pt", tmp_path / "weights.pt", sha256=SHA256)
    assert (tmp_path / "weights.pt").read_bytes() == CONTENT
    with pytest.raises(WeightsError, match="not the file it should be") as caught:
        download(f"{site.url}/weights.pt", tmp_path / "other.pt", sha256="0" * 64)
    assert caught.value.code == "model_damaged"
    assert not (tmp_path / "other.pt").exists()
    assert not (tmp_path / "other.pt.part").exists()


def test_waits_longer_each_time_and_gives_up(site: Site, tmp_path: Path) -> None:
    site.refuse = [503] * 3
    pauses = Pauses()
    download(f"{site.url}/weights.pt", tmp_path / "weights.pt", sha256=SHA256, sleep=pauses)
    assert pauses == [1, 2, 4]
    site.refuse = [503] * 99
    with pytest.raises(WeightsError, match="503") as caught:
        download(f"{site.url}/weights.pt", tmp_path / "b.pt", sleep=pauses)
    assert caught.value.code == "download_failed"
    site.refuse = []
    with pytest.raises(WeightsError, match="404"):
        download(f"{site.url}/none.pt", tmp_path / "c.pt", sleep=lambda _: pytest.fail("no use waiting"))


def test_hugging_face_mirror_and_offline(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://huggingface.co/weights.pt"
    monkeypatch.setenv("HF_ENDPOINT", site.url + "/")
    assert download(url, tmp_path / "weights.pt") == SHA256
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE") as caught:
        download(url, tmp_path / "b.pt")
    assert caught.value.code == "offline"
