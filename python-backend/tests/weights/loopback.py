"""A web server on this computer that serves files, and that can simulate faults."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """`files`: by path. `requests`: path and Range header of every request. `sent`: bytes of content passed
    to the connection.

    Faults: `cut_after`: bytes after which each of the next responses is cut, or stalls if `stalls`.
    `refuse`: status codes of the next responses. `seconds_per_block`: pause after each 4 KiB.
    `knows_ranges`: whether a Range header is heeded. `moved`: paths that lead to others.
    """

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    sent: int = 0
    counting: threading.Lock = field(default_factory=threading.Lock)
    cut_after: list[int] = field(default_factory=list)
    stalls: bool = False
    refuse: list[int] = field(default_factory=list)
    seconds_per_block: float = 0
    knows_ranges: bool = True
    moved: dict[str, str] = field(default_factory=dict)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def ranges(self) -> list[str | None]:
        """Return the Range header of every request."""
        return [wanted for _, wanted in self.requests]

    def asked(self, path: str) -> int:
        """Count the requests for a path."""
        return sum(asked == path for asked, _ in self.requests)


BLOCK = 4096


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def handle(self) -> None:
        # The client may be gone.
        with suppress(OSError):
            super().handle()

    def do_GET(self) -> None:
        site = self.site
        wanted = self.headers.get("Range")
        site.requests.append((self.path, wanted))
        content = site.files.get(self.path, b"")
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and site.knows_ranges else 0
        if site.refuse:
            self.send_error(site.refuse.pop(0))
        elif self.path in site.moved:
            self._answer(302, b"", Location=site.url + site.moved[self.path])
        elif self.path not in site.files:
            self.send_error(404)
        elif begin > len(content):
            self.send_error(416)
        elif begin > 0:
            content_range = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            self._answer(206, content[begin:], **{"Content-Range": content_range})
        else:
            self._answer(200, content)

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        site = self.site
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        end = site.cut_after.pop(0) if body and site.cut_after else len(body)
        for at in range(0, min(end, len(body)), BLOCK):
            block = body[at : min(at + BLOCK, end)]
            # Count before sending, as the client may check right after it receives the last byte.
            with site.counting:
                site.sent += len(block)
            self.wfile.write(block)
            site.closing.wait(site.seconds_per_block)
        if end < len(body):
            site.closing.wait(60 if site.stalls else 0)
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    site = Site(f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"site": site})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
