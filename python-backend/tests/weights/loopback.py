"""A web server on this computer that serves files, and that can simulate faults."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Site:
    """`files`: by path. `requests`: path and Range header of every request. `sent`: bytes of content passed
    to the connection.

    Faults: `cut_after`: bytes after which each of the next responses is cut. `refuse`: status codes of the
    next responses. `stall_after`: bytes after which each of the next responses stalls.
    `seconds_per_block`: pause after each 4 KiB. `knows_ranges`: whether a Range header is heeded. `moved`:
    paths that lead to others.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    sent: int = 0
    counting: threading.Lock = field(default_factory=threading.Lock)
    cut_after: list[int] = field(default_factory=list)
    refuse: list[int] = field(default_factory=list)
    stall_after: list[int] = field(default_factory=list)
    seconds_per_block: float = 0
    knows_ranges: bool = True
    moved: dict[str, str] = field(default_factory=dict)
    url: str = ""
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

    def do_GET(self) -> None:
        site = self.site
        wanted = self.headers.get("Range")
        site.requests.append((self.path, wanted))
        if site.refuse:
            self.send_error(site.refuse.pop(0))
            return
        if self.path in site.moved:
            self.send_response(302)
            self.send_header("Location", site.url + site.moved[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = site.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        if wanted and site.knows_ranges:
            begin, _, last = wanted.removeprefix("bytes=").partition("-")
            body = content[int(begin) : int(last) + 1 if last else None]
            if not body:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            end = int(begin) + len(body) - 1
            self.send_header("Content-Range", f"bytes {begin}-{end}/{len(content)}")
        else:
            body = content
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._send(body)

    def _send(self, body: bytes) -> None:
        site = self.site
        cut = site.cut_after.pop(0) if site.cut_after else None
        stall = site.stall_after.pop(0) if site.stall_after else None
        for begin in range(0, len(body), BLOCK):
            ends = [end for end in (begin + BLOCK, cut, stall, len(body)) if end is not None]
            block = body[begin : min(ends)]
            # Count before sending, as the client may check right after it receives the last byte.
            with site.counting:
                site.sent += len(block)
            try:
                self.wfile.write(block)
            except OSError:
                self.close_connection = True
                return
            if site.seconds_per_block:
                site.closing.wait(site.seconds_per_block)
            if begin + len(block) == stall:
                self.wfile.flush()
                site.closing.wait(60)
            if begin + len(block) in (cut, stall):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving_tls(folder: Path, site: Site) -> Iterator[tuple[str, Path]]:
    """Serve the site over TLS with an untrusted certificate; yield the address and the certificate's file."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-out", str(certificate), "-keyout", str(key)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}", certificate
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
