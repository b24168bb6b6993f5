"""Downloads one file: resumable, checked, patient with bad connections."""

from __future__ import annotations

import errno
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.errors import WeightsError

Progress = Callable[[int, int | None], None]
"""Called with the bytes there are and the bytes there will be, None where the server does not say."""

HUGGING_FACE = "https://huggingface.co"
BLOCK = 1 << 20
TIMEOUT_SECONDS = 60
TRIES_WITHOUT_PROGRESS = 6
LONGEST_PAUSE_SECONDS = 60.0


def download(
    url: str,
    target: Path,
    *,
    size: int | None = None,
    sha256: str | None = None,
    progress: Progress = lambda done, total: None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Fetch `url` to `target` and return its SHA-256.

    The bytes go to `target` + ".part", from where a later call goes on, and get their name once they are
    complete and, where `size` and `sha256` are given, the right ones. HF_ENDPOINT replaces huggingface.co,
    HF_HUB_OFFLINE forbids it. After a fault the download goes on after a pause of 1, 2, 4 ... seconds, and
    gives up after TRIES_WITHOUT_PROGRESS without a new byte.

    Raises WeightsError (`offline`, `download_failed`, `model_damaged`, `disk_full`).
    """
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file() and (size is None or target.stat().st_size == size):
        found = sha256_of_file(target)
        if sha256 in (None, found):
            return found
    address = _address(url)
    for fresh_start in (False, True):
        if fresh_start:
            part.unlink(missing_ok=True)
        _fetch_all(address, part, size, progress, sleep)
        found = sha256_of_file(part)
        if sha256 in (None, found):
            os.replace(part, target)
            return found
    part.unlink(missing_ok=True)
    raise WeightsError(
        "model_damaged",
        f"{url} is not the file it should be: its SHA-256 is {found}.",
        "Try again later, or get the file elsewhere and import it.",
    )


def _address(url: str) -> str:
    if not url.startswith(f"{HUGGING_FACE}/"):
        return url
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise WeightsError(
            "offline",
            f"{url} is needed, but HF_HUB_OFFLINE forbids downloads from Hugging Face.",
            "Unset HF_HUB_OFFLINE, or import files that you already have.",
        )
    return os.environ.get("HF_ENDPOINT", HUGGING_FACE).rstrip("/") + url.removeprefix(HUGGING_FACE)


def _fetch_all(
    url: str, part: Path, size: int | None, progress: Progress, sleep: Callable[[float], None]
) -> None:
    """Fetch until the file is complete, however often the connection breaks."""
    tries = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        if size is not None and before >= size:
            return
        try:
            if _fetch(url, part, before, size, progress):
                return
            fault = "the connection ended too early"
        except urllib.error.HTTPError as error:
            fault = f"the server answered {error.code} {error.reason}"
            if error.code < 500 and error.code not in (408, 429):
                raise _failed(url, fault) from error
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            fault = str(getattr(error, "reason", None) or error)
        after = part.stat().st_size if part.exists() else 0
        tries = 0 if after > before else tries + 1
        if tries >= TRIES_WITHOUT_PROGRESS:
            raise _failed(url, fault)
        sleep(min(2.0 ** max(0, tries - 1), LONGEST_PAUSE_SECONDS))


def _fetch(url: str, part: Path, begin: int, size: int | None, progress: Progress) -> bool:
    """Fetch what comes after the first `begin` bytes; whether the file is complete now."""
    request = urllib.request.Request(url, headers={"User-Agent": "virnucpro-desktop"})
    if begin:
        request.add_header("Range", f"bytes={begin}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        # The part is as long as the file, or longer: start again, unless it is exactly the file.
        complete = error.headers.get("Content-Range", "") == f"bytes */{begin}"
        if not complete:
            part.unlink()
        return complete
    with response:
        resumed = response.status == 206 and response.headers.get("Content-Range", "").startswith(
            f"bytes {begin}-"
        )
        done = begin if resumed else 0
        length = response.headers.get("Content-Length")
        total = size if size is not None else (done + int(length) if length else None)
        progress(done, total)
        try:
            with open(part, "ab" if resumed else "wb") as file:
                while block := response.read(BLOCK):
                    file.write(block)
                    done += len(block)
                    progress(done, total)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise WeightsError(
                "disk_full",
                f"The disk with {part.parent} is full.",
                "Make room, then start again: it goes on.",
            ) from error
    return total is None or done >= total


def _failed(url: str, why: str) -> WeightsError:
    return WeightsError(
        "download_failed",
        f"{url} could not be downloaded: {why}.",
        "Check the connection and start again: what is there is kept. Or import files that you already have.",
    )
