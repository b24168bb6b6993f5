"""Downloads one file: over several connections at once, resumable, checked, patient with bad connections."""

from __future__ import annotations

import http.client
import os
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.partial_file import PartialFile

Progress = Callable[[int, int | None], None]
"""Called with the bytes there are and the bytes there will be, None where the server does not say."""

HUGGING_FACE = "https://huggingface.co"
CONNECTIONS = 4
SEGMENT = 128 << 20
"""Bytes asked for with one request. Near the front first: Windows fills what lies before a written byte."""
BLOCK = 1 << 20
CONNECT_SECONDS = 10
READ_SECONDS = 30
TRIES_WITHOUT_PROGRESS = 6
TRIES_UNREACHABLE = 2
"""Where no byte has come yet, so that a computer without network is told so within seconds."""
LONGEST_PAUSE_SECONDS = 60.0

KEPT = "What has been fetched is kept: start again, and it goes on."


def download(
    url: str,
    target: Path,
    *,
    size: int | None = None,
    sha256: str | None = None,
    progress: Progress = lambda done, total: None,
    waiting: Callable[[str], None] = lambda why: None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Fetch `url` to `target` and return its SHA-256.

    The bytes go to a PartialFile; a later call goes on from there where `sha256` is given, since only then is
    it certain that the server still has the same file. `target` appears once it is complete and has the
    `sha256`. After a fault the download goes on after a pause of 1, 2, 4 ... seconds, said to `waiting`, and
    gives up after TRIES_WITHOUT_PROGRESS without a new byte, or TRIES_UNREACHABLE where the server was never
    reached.

    Raises OSError and WeightsError (`network_unreachable`, `network_proxy`, `network_blocked`,
    `network_certificate`, `download_failed`, `model_damaged`, `disk_full`).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        found = sha256_of_file(target)
        if sha256 == found:
            return found
        target.unlink()
    part = PartialFile(target)
    if sha256 is None:
        part.clear()
    else:
        waiting("Checking what was fetched before.")
        part.restore()
    found = ""
    for takes_over in (part.done > 0, False):
        _Transfer(url, part, size, progress, waiting, sleep).run()
        waiting("Checking the file.")
        found = sha256_of_file(part.path)
        if sha256 in (None, found):
            part.become(target)
            return found
        part.clear()
        # Bytes of an earlier process may be those of another file; what came in one go would come again.
        if not takes_over:
            break
    raise WeightsError(
        "model_damaged",
        f"What {_host(url)} has as {target.name} is not the published file: its SHA-256 is {found}.",
        "Check which mirror is entered, or get the file elsewhere and import it.",
    )


def address(url: str, name: str, mirror: str | None) -> str:
    """Where to fetch a published file: from `mirror`, which has all files side by side by their names, else
    from its own place, for which HF_ENDPOINT replaces huggingface.co. Raises WeightsError (`offline`) where
    HF_HUB_OFFLINE forbids it."""
    if mirror:
        return f"{mirror.rstrip('/')}/{name}"
    if not url.startswith(f"{HUGGING_FACE}/"):
        return url
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise WeightsError(
            "offline",
            f"{url} is needed, but HF_HUB_OFFLINE forbids downloads from Hugging Face.",
            "Unset HF_HUB_OFFLINE, or import files that you already have.",
        )
    return os.environ.get("HF_ENDPOINT", HUGGING_FACE).rstrip("/") + url.removeprefix(HUGGING_FACE)


_NETWORK = (urllib.error.URLError, http.client.HTTPException, ssl.SSLError, TimeoutError, ConnectionError)


class _BrokenOffError(ConnectionError):
    """The connection ended before all that was announced had come."""


class _Transfer:
    """Fetches what is missing of a PartialFile: in rounds, each until nothing is left or the connection
    fails."""

    def __init__(
        self,
        url: str,
        part: PartialFile,
        size: int | None,
        progress: Progress,
        waiting: Callable[[str], None],
        sleep: Callable[[float], None],
    ) -> None:
        self._url, self._part, self._size = url, part, size
        self._progress, self._waiting, self._sleep = progress, waiting, sleep
        self._opener = _opener()
        self._lock = threading.Lock()
        self._gaps: list[tuple[int, int | None]] = []
        self._done = part.done
        self._received = False
        self._ended = False
        self._stop = threading.Event()
        self._helpers: list[threading.Thread] = []
        self._helpers_fault: BaseException | None = None
        self._seen: Exception | None = None

    def run(self) -> None:
        """Until the file is complete. Raises WeightsError and OSError."""
        proxy = _proxy_of(self._url)
        if proxy is not None and not proxy.lower().startswith("http"):
            raise WeightsError(
                "network_proxy",
                f"{proxy} is not an HTTP proxy, and the weights can be fetched through no other kind.",
                "Enter an HTTP proxy under Settings, or import files that you already have.",
            )
        if self._size is not None:
            self._progress(self._done, self._size)
        tries = 0
        while not self._is_complete():
            before = self._done
            fault = self._round() or self._seen
            if self._is_complete():
                return
            tries = 0 if self._done > before else tries + 1
            answered = self._received or isinstance(fault, urllib.error.HTTPError)
            if tries >= (TRIES_WITHOUT_PROGRESS if answered else TRIES_UNREACHABLE) or _is_hopeless(fault):
                raise self._error(fault) from fault
            pause = min(2.0 ** max(0, tries - 1), LONGEST_PAUSE_SECONDS)
            self._waiting(f"{self._words(fault)} Trying again in {pause:.0f} s.")
            self._sleep(pause)

    def _is_complete(self) -> bool:
        if self._size is None:
            return self._ended
        return not self._part.gaps(self._size)

    def _round(self) -> Exception | None:
        """The fault that ended it; None where nothing was left to do."""
        self._gaps = self._part.gaps(self._size)
        self._done = self._part.done
        self._helpers, self._helpers_fault = [], None
        self._stop.clear()
        try:
            self._reach()
            while (gap := self._claim()) is not None:
                self._fetch(gap, first=True)
            return None
        except _NETWORK as error:
            if _is_hopeless(error):
                self._stop.set()
            return error
        except BaseException:
            self._stop.set()
            raise
        finally:
            for helper in self._helpers:
                # One that waits for its server is left behind: the process ends.
                helper.join(2 if self._stop.is_set() else None)
            if self._helpers_fault is not None:
                raise self._helpers_fault

    def _reach(self) -> None:
        """Looks up the name, which urllib would do without a limit of time. Raises URLError."""
        host = urlsplit(_proxy_of(self._url) or self._url).hostname or ""
        faults: list[OSError] = []

        def look_up() -> None:
            try:
                socket.getaddrinfo(host, None)
            except OSError as error:
                faults.append(error)

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(CONNECT_SECONDS)
        if thread.is_alive():
            raise urllib.error.URLError(TimeoutError("the name could not be looked up"))
        if faults:
            raise urllib.error.URLError(faults[0])

    def _claim(self) -> tuple[int, int] | None:
        """The next range to ask for, as begin and end."""
        with self._lock:
            if self._stop.is_set() or not self._gaps:
                return None
            begin, end = self._gaps.pop(0)
            if self._ended or (end is not None and end <= begin):
                return None
            last = begin + SEGMENT
            if end is None or end > last:
                self._gaps.insert(0, (last, end))
                return begin, last
            return begin, end

    def _help(self) -> None:
        """Further connections. Their faults count for nothing: what they have not fetched, the next round
        will."""
        try:
            while (gap := self._claim()) is not None:
                self._fetch(gap, first=False)
        except _NETWORK as error:
            self._seen = error
        except BaseException as error:
            self._helpers_fault = error
            self._stop.set()

    def _fetch(self, gap: tuple[int, int], *, first: bool) -> None:
        begin, end = gap
        request = urllib.request.Request(
            self._url, headers={"User-Agent": "virnucpro-desktop", "Range": f"bytes={begin}-{end - 1}"}
        )
        with self._opener.open(request, timeout=CONNECT_SECONDS) as response:
            stop: int | None
            if response.status == 206:
                total = _total(response.headers.get("Content-Range", ""), begin)
                self._learn(total)
                stop = min(end, total)
                if first and not self._helpers:
                    self._start_helpers()
            else:
                if self._helpers:
                    raise _BrokenOffError("the server no longer sends ranges")
                # This server knows no ranges: one stream from the beginning.
                length = response.headers.get("Content-Length")
                if length is not None:
                    self._learn(int(length))
                with self._lock:
                    self._gaps = []
                self._part.clear()
                self._done, begin, stop = 0, 0, self._size
            self._receive(response, begin, stop)

    def _receive(self, response: Any, begin: int, stop: int | None) -> None:
        with self._part.writer(begin) as writer:
            while (stop is None or writer.position < stop) and not self._stop.is_set():
                block = response.read1(BLOCK if stop is None else min(BLOCK, stop - writer.position))
                if not block:
                    if stop is not None:
                        raise _BrokenOffError("the connection ended too early")
                    self._ended = True
                    return
                writer.write(block)
                with self._lock:
                    self._received = True
                    self._done += len(block)
                    self._progress(self._done, self._size)

    def _start_helpers(self) -> None:
        with self._lock:
            waiting = len(self._gaps)
            left = sum((end or begin) - begin for begin, end in self._gaps)
        count = min(CONNECTIONS - 1, max(waiting, -(-left // SEGMENT)))
        self._helpers = [threading.Thread(target=self._help, daemon=True) for _ in range(count)]
        for helper in self._helpers:
            helper.start()

    def _learn(self, total: int) -> None:
        """The size the server says. One that isn't the published file's is no file of theirs."""
        with self._lock:
            if self._size is None:
                self._size = total
                self._gaps = [(b, total if e is None else min(e, total)) for b, e in self._gaps if b < total]
            elif self._size != total:
                raise WeightsError(
                    "network_blocked",
                    f"{_host(self._url)} offers a file of {total:,} bytes; the published one has "
                    f"{self._size:,}. It may "
                    "be the sign-in page of a network, or another version.",
                    "Open a web page to sign in to your network, check which mirror is entered, then "
                    "try again.",
                )

    def _words(self, fault: Exception | None) -> str:
        """The fault in one sentence."""
        host = _host(self._url)
        reason = getattr(fault, "reason", None) or fault
        if isinstance(fault, urllib.error.HTTPError):
            if fault.code in (404, 410):
                return f"{host} does not have this file (any more) ({fault.code} {fault.reason})."
            if fault.code in (429, 503):
                return f"{host} is too busy ({fault.code} {fault.reason})."
            return f"{host} answered {fault.code} {fault.reason}."
        if _proxy_of(self._url) and not self._received and not isinstance(reason, ssl.SSLError):
            proxy = urlsplit(_proxy_of(self._url) or "").hostname
            return f"The proxy {proxy} does not let the download through ({_plain(reason)})."
        if isinstance(reason, ssl.SSLCertVerificationError):
            return f"{host} shows a certificate that this computer does not trust."
        if isinstance(reason, socket.gaierror):
            return f"{host} could not be found: this computer is probably not connected to the internet."
        if isinstance(reason, TimeoutError):
            return f"{host} does not answer." if not self._received else f"{host} sends nothing any more."
        if isinstance(reason, ConnectionRefusedError):
            return f"{host} refuses the connection."
        return f"The connection to {host} broke off ({_plain(reason)})."

    def _error(self, fault: Exception | None) -> WeightsError:
        message = f"{Path(self._part.path.name).stem} could not be fetched. {self._words(fault)}"
        reason = getattr(fault, "reason", None) or fault
        code = getattr(fault, "code", None)
        kept = f" {KEPT}" if self._part.done > 0 else ""
        if code == 407 or (
            _proxy_of(self._url) and not self._received and code is None and not _is_certificate(reason)
        ):
            return WeightsError(
                "network_proxy", message, f"Correct the proxy under Settings, then try again.{kept}"
            )
        if _is_certificate(reason):
            return WeightsError(
                "network_certificate",
                message,
                f"Choose your network's certificate file under Settings, then try again.{kept}",
            )
        if code in (401, 403, 451):
            return WeightsError(
                "network_blocked",
                message,
                f"Enter a proxy or a mirror under Settings, or import files that you already have.{kept}",
            )
        if code is not None:
            return WeightsError(
                "download_failed",
                message,
                "Try again later, enter a mirror under Settings, or import files that you already "
                f"have.{kept}",
            )
        return WeightsError(
            "network_unreachable",
            message,
            f"Check the network, then try again. Or import files that you already have.{kept}",
        )


class _HttpConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_SECONDS)


class _HttpsConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_SECONDS)


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_HttpConnection, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trusted = context

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_HttpsConnection, req, context=self._trusted)


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_HttpHandler, _HttpsHandler(_trust()))


def _trust() -> ssl.SSLContext:
    """The system's certificate authorities, and those in SSL_CERT_FILE. A Python that was built elsewhere may
    look for the system's in the wrong place; truststore, which comes with tokenizers, knows where they
    are."""
    try:
        import truststore
    except ImportError:
        return ssl.create_default_context()
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    own = os.environ.get("SSL_CERT_FILE")
    if own:
        context.load_verify_locations(cafile=own)
    return context


def _proxy_of(url: str) -> str | None:
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy is None:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _total(content_range: str, begin: int) -> int:
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", content_range.strip())
    if not found or int(found[1]) != begin:
        raise _BrokenOffError(f"the server answered with the range {content_range!r}")
    return int(found[2])


def _is_certificate(reason: object) -> bool:
    return isinstance(reason, ssl.SSLCertVerificationError)


def _is_hopeless(fault: Exception | None) -> bool:
    """Whether asking again soon is of no use."""
    if isinstance(fault, urllib.error.HTTPError):
        return fault.code < 500 and fault.code not in (408, 425, 429)
    reason = getattr(fault, "reason", None)
    return _is_certificate(reason) or "Tunnel connection failed: 4" in str(reason)


def _plain(reason: object) -> str:
    text = getattr(reason, "strerror", None) or str(reason)
    return str(text) or type(reason).__name__
