"""Tests the channel from outside, with a real child process behind real pipes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from virnucpro_backend import __version__
from virnucpro_backend.protocol import PROTOCOL_VERSION, MalformedCommand, parse_command

CHILD_HEAD = "import os, sys, threading\nfrom virnucpro_backend.protocol import *\n"


def start(body: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-u", "-c", CHILD_HEAD + body],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_prints_of_python_and_of_c_never_reach_the_protocol() -> None:
    child = start(
        "channel = Channel()\nchannel.hello('worker')\n"
        "print('from python')\nos.write(1, b'from C')\nos.system('echo from a child')\n"
        "channel.emit('bye', text='Daten β 実験', path='bad\\udcff')\n"
    )
    out, err = child.communicate(timeout=30)
    hello, bye = [json.loads(line) for line in out.splitlines()]
    assert hello.pop("pid") == child.pid
    assert hello == {
        "type": "hello",
        "protocol": PROTOCOL_VERSION,
        "role": "worker",
        "backend_version": __version__,
        "python_version": sys.version.split()[0],
    }
    assert bye == {"type": "bye", "text": "Daten β 実験", "path": "bad\udcff"}
    assert b"from python" in err
    assert b"from C" in err
    assert b"from a child" in err


def test_lines_of_several_threads_do_not_mix() -> None:
    child = start(
        "channel = Channel()\n"
        "def many(i):\n    for j in range(50): channel.emit('log', i=i, j=j, text='x' * 100_000)\n"
        "threads = [threading.Thread(target=many, args=(i,)) for i in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
    )
    out, _ = child.communicate(timeout=60)
    events = [json.loads(line) for line in out.splitlines()]
    assert sorted((event["i"], event["j"]) for event in events) == [
        (i, j) for i in range(4) for j in range(50)
    ]


def test_commands_arrive_in_order_and_the_end_ends_the_process() -> None:
    child = start(
        "channel = Channel(on_eof=lambda: (channel.emit('eof'), os._exit(7)))\n"
        "while True: channel.emit('got', what=str(channel.commands.get()))\n"
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b'{"type":"a"}\n\nnonsense\n{"type":"b","n":1}\n')
    child.stdin.flush()
    got = [json.loads(child.stdout.readline())["what"] for _ in range(3)]
    assert got[0] == "{'type': 'a'}"
    assert "not JSON" in got[1]
    assert got[2] == "{'type': 'b', 'n': 1}"
    child.stdin.close()
    assert json.loads(child.stdout.readlines()[-1])["type"] == "eof"
    assert child.wait(timeout=30) == 7


def test_a_closed_output_ends_the_process_too() -> None:
    child = start(
        "channel = Channel(on_eof=lambda: os._exit(9))\nsys.stdin.read()\nchannel.emit('late')\nos._exit(1)\n"
    )
    assert child.stdout is not None
    assert child.stdin is not None
    child.stdout.close()
    child.stdin.close()
    assert child.wait(timeout=30) == 9


def test_nan_is_refused_rather_than_sent() -> None:
    out, err = start("Channel().emit('x', value=float('nan'))").communicate(timeout=30)
    assert out == b""
    assert b"ValueError" in err


@pytest.mark.parametrize("line", [b"[1]", b"{}", b'{"type": 3}', b"\xff\xfe", b"", b"[" * 100_000])
def test_malformed_lines_are_reported_not_raised(line: bytes) -> None:
    assert isinstance(parse_command(line), MalformedCommand)
