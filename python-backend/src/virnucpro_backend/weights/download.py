"""Downloads one file, with resumption, a check of its SHA-256, and retries on bad connections."""

from __future__ import annotations

import os
import re
import ssl
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import truststore

from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError, WeightsErrorCode

Progress = Callable[[int, int | None], None]
"""Called with the bytes received and the total bytes, None if the server does not say."""

HUGGING_FACE = "https://huggingface.co"
CONNECT_SECONDS = 10
READ_SECONDS = 30
TRIES_WITHOUT_PROGRESS = 6
TRIES_UNREACHABLE = 2
"""Applies if no byte has arrived, so that a user without a network is informed within seconds."""
LONGEST_PAUSE_SECONDS = 60.0


def download(
    url: str,
    target: Path,
    *,
    size: int | None = None,
    sha256: str | None = None,
    progress: Progress = lambda done, total: None,
    waiting: Callable[[str], None] = lambda why: None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Download `url` to `target`.

    The bytes go to `target.part`. A later call continues from there if `sha256` is given, since only then is
    it certain that the server still has the same file. `target` appears once it is complete and has the
    `sha256`. After a fault the download continues after a pause of 1, 2, 4 ... seconds, which is reported to
    `waiting`, and gives up after TRIES_WITHOUT_PROGRESS without a new byte, or TRIES_UNREACHABLE if the
    server was never reached.

    Raises OSError and WeightsError (`network_unreachable`, `network_proxy`, `network_blocked`,
    `network_certificate`, `download_failed`, `model_damaged`).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        if sha256 == sha256_of_file(target):
            return
        target.unlink()
    part = part_of(target)
    if sha256 is None:
        part.unlink(missing_ok=True)
    found = ""
    for continues in (part.exists(), False):
        _Transfer(url, part, size, progress, waiting, sleep).run()
        waiting("Checking the file.")
        found = sha256_of_file(part)
        if sha256 in (None, found):
            part.replace(target)
            return
        part.unlink()
        # Bytes from an earlier process may be damaged, so try once more; a single download would not differ.
        if not continues:
            break
    raise not_published(url, target.name, f"SHA-256, {found},")


def not_published(url: str, name: str, what: str) -> WeightsError:
    """Make the error for a file with other content than the published one."""
    return WeightsError(
        "model_damaged",
        f"What {_host(url)} has as {name} is not the published file: its {what} is another one.",
        "Check which mirror is entered, or get the file elsewhere and import it.",
    )


def part_of(target: Path) -> Path:
    """The file that holds the bytes received so far."""
    return target.with_name(f"{target.name}.part")


def address(url: str, name: str, mirror: str | None) -> str:
    """Return the URL of a published file: below `mirror`, which holds all files by name in one folder, else
    its own, in which HF_ENDPOINT replaces huggingface.co. Raises WeightsError (`offline`) if HF_HUB_OFFLINE
    forbids it."""
    if mirror:
        return f"{mirror.rstrip('/')}/{name}"
    if not url.startswith(f"{HUGGING_FACE}/"):
        return url
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise WeightsError(
            "network_blocked",
            f"{url} is needed, but HF_HUB_OFFLINE forbids downloads from Hugging Face.",
        )
    return os.environ.get("HF_ENDPOINT", HUGGING_FACE).rstrip("/") + url.removeprefix(HUGGING_FACE)


class _BrokenOffError(httpx2.TransportError):
    """The response is not the requested part of the file, or ended before it was complete."""


class _Transfer:
    """Downloads the missing part of a file, in as many requests as needed."""

    def __init__(
        self,
        url: str,
        part: Path,
        size: int | None,
        progress: Progress,
        waiting: Callable[[str], None],
        sleep: Callable[[float], None],
    ) -> None:
        self._url, self._part, self._size = url, part, size
        self._progress, self._waiting, self._sleep = progress, waiting, sleep
        self._proxy = _proxy_of(url)
        self._received = False

    def run(self) -> None:
        """Return once the file is complete. Raises WeightsError and OSError."""
        if self._proxy is not None and not self._proxy.lower().startswith("http"):
            raise WeightsError(
                "network_proxy",
                f"{self._proxy} is not an HTTP proxy, and the weights can be fetched through no other kind.",
            )
        timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        tries = 0
        with httpx2.Client(verify=_trust(), timeout=timeout, follow_redirects=True) as client:
            while True:
                before = self._done
                try:
                    self._receive_rest(client)
                    return
                except httpx2.HTTPError as fault:
                    tries = 0 if self._done > before else tries + 1
                    answered = self._received or isinstance(fault, httpx2.HTTPStatusError)
                    most = TRIES_WITHOUT_PROGRESS if answered else TRIES_UNREACHABLE
                    if tries >= most or _is_hopeless(fault):
                        text = f"{self._part.stem} could not be fetched. {self._describe(fault)}"
                        raise WeightsError(self._code(fault), text) from fault
                    pause = min(2.0 ** max(0, tries - 1), LONGEST_PAUSE_SECONDS)
                    self._waiting(f"{self._describe(fault)} Trying again in {pause:.0f} s.")
                self._sleep(pause)

    @property
    def _done(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _receive_rest(self, client: httpx2.Client) -> None:
        begin = self._done
        if self._size is not None:
            if begin == self._size:
                return
            self._progress(begin, self._size)
        headers = {"User-Agent": "virnucpro-desktop", "Accept-Encoding": "identity"}
        if begin > 0:
            headers["Range"] = f"bytes={begin}-"
        with client.stream("GET", self._url, headers=headers) as response:
            if response.status_code == 416:
                self._part.unlink()
                raise _BrokenOffError("the file has fewer bytes than were fetched before")
            response.raise_for_status()
            if response.status_code == 206:
                self._learn(_total(response.headers.get("Content-Range", ""), begin))
            else:
                begin = 0
                length = response.headers.get("Content-Length")
                if length is not None:
                    self._learn(int(length))
            self._receive(response, begin)
        if self._size is not None and self._done != self._size:
            raise _BrokenOffError("the connection ended too early")

    def _receive(self, response: httpx2.Response, begin: int) -> None:
        done = begin
        with open(self._part, "ab" if begin else "wb") as file:
            for block in response.iter_raw():
                done += file.write(block)
                self._received = True
                self._progress(done, self._size)

    def _learn(self, total: int) -> None:
        """Take an unknown size from the server; a file of another size is not the published one."""
        if self._size is None:
            self._size = total
        elif self._size != total:
            raise WeightsError(
                "network_blocked",
                f"{_host(self._url)} offers a file of {total:,} bytes; the published one has {self._size:,}. "
                "It may be the page on which a network wants you to sign in, or another version.",
            )

    def _code(self, fault: httpx2.HTTPError) -> WeightsErrorCode:
        if isinstance(fault, httpx2.HTTPStatusError):
            status = fault.response.status_code
            refused = status in (401, 403, 451)
            return "network_proxy" if status == 407 else "network_blocked" if refused else "download_failed"
        if _caused_by(fault, ssl.SSLCertVerificationError):
            return "network_certificate"
        is_of_proxy = isinstance(fault, httpx2.ProxyError) or (self._proxy is not None and not self._received)
        return "network_proxy" if is_of_proxy else "network_unreachable"

    def _describe(self, fault: httpx2.HTTPError) -> str:
        """Describe the fault in one sentence."""
        host, code = _host(self._url), self._code(fault)
        if isinstance(fault, httpx2.HTTPStatusError):
            return f"{host} answered {fault.response.status_code} {fault.response.reason_phrase}."
        if code == "network_certificate":
            return f"{host} shows a certificate that this computer does not trust."
        if code == "network_proxy":
            return f"The proxy {_host(self._proxy or '')} does not let the download through ({fault})."
        return f"The connection to {host} failed ({str(fault) or type(fault).__name__})."


def _trust() -> ssl.SSLContext:
    """Trust the system's certificate authorities and SSL_CERT_FILE; httpx would use only the latter."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    own = os.environ.get("SSL_CERT_FILE")
    if own:
        context.load_verify_locations(cafile=own)
    return context


def _proxy_of(url: str) -> str | None:
    """Find the proxy that httpx will use, from the same environment and system settings."""
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _total(content_range: str, begin: int) -> int:
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", content_range.strip())
    if not found or int(found[1]) != begin:
        raise _BrokenOffError(f"the server answered with the range {content_range!r}")
    return int(found[2])


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an exception or one of its causes is of this kind, as httpx wraps system errors."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_hopeless(fault: httpx2.HTTPError) -> bool:
    """Whether an early retry would be useless."""
    if isinstance(fault, httpx2.HTTPStatusError):
        status = fault.response.status_code
        return status < 500 and status not in (408, 425, 429)
    if isinstance(fault, httpx2.ProxyError):
        return str(fault).startswith("4")
    return _caused_by(fault, ssl.SSLCertVerificationError)
