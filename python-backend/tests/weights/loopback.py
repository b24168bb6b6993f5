"""A web server on this computer that serves files, and can be told to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """`files` by path. `cut_after`: bytes after which each of the next answers breaks off. `refuse`: status
    codes of the next answers. `ranges`: the Range header of every request."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)
    refuse: list[int] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    knows_ranges: bool = True
    url: str = ""


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.ranges.append(self.headers.get("Range"))
            content = site.files.get(self.path)
            if site.refuse:
                self.send_error(site.refuse.pop(0))
                return
            if content is None:
                self.send_error(404)
                return
            begin = 0
            wanted = self.headers.get("Range")
            if wanted and site.knows_ranges:
                begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if begin >= len(content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            body = content[begin:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if site.cut_after:
                self.wfile.write(body[: site.cut_after.pop(0)])
                self.close_connection = True
            else:
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
