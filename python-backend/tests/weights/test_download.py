from __future__ import annotations

import hashlib
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Site, serving
from published_files import hugging_face_esm2, write_fair_esm

from virnucpro_backend.weights import download as downloading
from virnucpro_backend.weights.download import address, download, part_of
from virnucpro_backend.weights.errors import WeightsError


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small ESM-2 in fair-esm's format."""
    return write_fair_esm(tmp_path_factory.mktemp("esm"), hugging_face_esm2()).read_bytes()


@pytest.fixture
def site(content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HF_ENDPOINT", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with serving() as site:
        site.files["/esm2.pt"] = content
        yield site


class Fetch:
    """A download that records its pauses and waits."""

    def __init__(self, site: Site, target: Path, content: bytes) -> None:
        self.site, self.target = site, target
        self.size, self.sha256 = len(content), hashlib.sha256(content).hexdigest()
        self.pauses: list[float] = []
        self.waits: list[str] = []
        self.seen: list[tuple[int, int | None]] = []

    def __call__(self, path: str = "/esm2.pt", sha256: str | None = None) -> None:
        download(
            f"{self.site.url}{path}",
            self.target,
            size=self.size,
            sha256=sha256 or self.sha256,
            progress=lambda *now: self.seen.append(now),
            waiting=self.waits.append,
            sleep=self.pauses.append,
        )

    def fails(self, path: str = "/esm2.pt", sha256: str | None = None) -> WeightsError:
        with pytest.raises(WeightsError) as caught:
            self(path, sha256)
        assert not self.target.exists()
        return caught.value

    @property
    def kept(self) -> int:
        """Bytes that a later call need not download."""
        part = part_of(self.target)
        return part.stat().st_size if part.exists() else 0


@pytest.fixture
def fetch(site: Site, tmp_path: Path, content: bytes) -> Fetch:
    return Fetch(site, tmp_path / "a" / "esm2.pt", content)


def only_the_rest(fetch: Fetch) -> None:
    """Download what is missing, and check that nothing else was requested."""
    kept, fetch.site.sent = fetch.kept, 0
    fetch.site.requests.clear()
    fetch()
    assert fetch.site.ranges == [f"bytes={kept}-" if kept else None]
    assert fetch.site.sent == fetch.size - kept
    assert list(fetch.target.parent.iterdir()) == [fetch.target]


def test_a_download_cut_at_98_percent_is_resumed(fetch: Fetch, content: bytes) -> None:
    cut = len(content) * 98 // 100
    fetch.site.cut_after = [cut]
    fetch()
    assert fetch.target.read_bytes() == content
    assert fetch.site.ranges == [None, f"bytes={cut}-"]
    assert fetch.site.sent == len(content), "no byte came twice"
    assert [done for done, _ in fetch.seen] == sorted(done for done, _ in fetch.seen)
    assert fetch.seen[-1] == (len(content), len(content))
    assert any("failed" in text and "Trying again" in text for text in fetch.waits)


def test_repeated_cuts_keep_the_received_bytes(fetch: Fetch, content: bytes) -> None:
    class GoneAfterwards(list[int]):
        def pop(self, index: int = -1) -> int:  # type: ignore[override]
            fetch.site.refuse = [503] * 99
            return super().pop(index)

    fetch.site.cut_after = GoneAfterwards([50_000])
    error = fetch.fails()
    assert (error.code, fetch.kept) == ("download_failed", 50_000)
    fetch.site.refuse = []
    only_the_rest(fetch)


def test_a_stalled_download_is_resumed(fetch: Fetch, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # This is long enough for a server that waits for processor time.
    monkeypatch.setattr(downloading, "READ_SECONDS", 3)
    fetch.site.cut_after, fetch.site.stalls = [30_000], True
    fetch()
    assert fetch.target.read_bytes() == content
    assert fetch.site.ranges[1] == "bytes=30000-"
    assert any("Trying again" in text for text in fetch.waits)


def test_without_ranges_the_download_starts_again(fetch: Fetch, content: bytes) -> None:
    fetch.site.knows_ranges = False
    fetch.site.cut_after = [40_000]
    fetch()
    assert fetch.target.read_bytes() == content
    assert len(fetch.site.requests) == 2


def test_wrong_bytes_are_refused(fetch: Fetch, content: bytes) -> None:
    fetch.site.files["/esm2.pt"] = content[:-1] + b"?"
    error = fetch.fails()
    assert error.code == "model_damaged"
    assert "not the published file" in error.message
    assert (fetch.kept, len(fetch.site.requests)) == (0, 1), "what came in one go would come again"


def test_wrong_bytes_of_an_earlier_download_are_replaced(fetch: Fetch, content: bytes) -> None:
    fetch.target.parent.mkdir()
    for earlier in (b"?" * 20_000, b"?" * len(content), b"?" * (len(content) + 1)):
        part_of(fetch.target).write_bytes(earlier)
        fetch()
        assert fetch.target.read_bytes() == content
        assert not part_of(fetch.target).exists()
        fetch.target.unlink()


def test_a_file_of_another_size_is_not_downloaded(fetch: Fetch) -> None:
    fetch.site.files["/esm2.pt"] = b"<html>Sign in</html>"
    error = fetch.fails()
    assert error.code == "network_blocked"
    assert "sign in" in error.message
    assert fetch.pauses == []


def test_redirects_are_followed(fetch: Fetch, content: bytes) -> None:
    fetch.site.moved["/old.pt"] = "/esm2.pt"
    fetch.site.cut_after = [60_000]
    fetch("/old.pt")
    assert fetch.target.read_bytes() == content
    last = "bytes=60000-"
    assert fetch.site.requests[-2:] == [("/old.pt", last), ("/esm2.pt", last)]


@pytest.mark.parametrize(
    ("status", "code"), [(403, "network_blocked"), (404, "download_failed"), (410, "download_failed")]
)
def test_refusals_are_not_retried(fetch: Fetch, status: int, code: str) -> None:
    fetch.site.refuse = [status]
    error = fetch.fails()
    assert (error.code, fetch.kept, fetch.pauses) == (code, 0, []), "no use waiting"
    assert str(status) in error.message
    only_the_rest(fetch)


def test_a_busy_server_is_retried_with_growing_pauses(fetch: Fetch) -> None:
    fetch.site.refuse = [503] * 3
    fetch()
    assert fetch.pauses == [1, 2, 4]
    assert any("503" in text for text in fetch.waits)
    fetch.target.unlink()
    fetch.site.refuse = [503] * 99
    assert fetch.fails().code == "download_failed"
    assert len(fetch.pauses) == 3 + downloading.TRIES_WITHOUT_PROGRESS - 1


def test_an_unreachable_server_is_reported_quickly(fetch: Fetch, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fetch.site.url = f"http://127.0.0.1:{port}"
    error = fetch.fails()
    assert error.code == "network_unreachable"
    assert fetch.pauses == [1]
    fetch.site.url = "http://there-is-no-such-computer.invalid"
    assert fetch.fails().code == "network_unreachable"


def test_a_proxy_that_does_not_answer_is_reported(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    error = fetch.fails()
    assert error.code == "network_proxy"
    assert "proxy" in error.message
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    assert "not an HTTP proxy" in fetch.fails().message


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_an_untrusted_certificate_is_reported(
    fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context) as site:
        site.files, fetch.site = fetch.site.files, site
        error = fetch.fails()
        assert error.code == "network_certificate"
        assert "does not trust" in error.message
        assert fetch.pauses == [], "no use waiting"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        fetch()


def test_addresses_respect_mirrors_and_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    url = "https://huggingface.co/zhihan1996/DNABERT-S/resolve/main/config.json"
    assert address(url, "config.json", None) == url
    assert address(url, "config.json", "http://mirror/weights/") == "http://mirror/weights/config.json"
    monkeypatch.setenv("HF_ENDPOINT", "https://hf.example/")
    assert address(url, "config.json", None).startswith("https://hf.example/zhihan1996/")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE"):
        address(url, "config.json", None)
