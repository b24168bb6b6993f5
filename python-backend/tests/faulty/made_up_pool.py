"""A cluster for tests: its nodes are made up, and its workers are real processes of this computer.

Takes the place of `virnucpro_backend.cluster` (see faulty.py). Its only argument is a file of
orders, one JSON object a line, which is read as it grows: `{"join": "node1", "devices": 2}`;
`{"leave": "node1"}`, which kills its workers and takes its devices away; `{"kill": "node1"}`, which only
kills the workers; `{"waiting": 3, "reason": "Priority"}`; `{"die": true}`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from signal import Signals
from typing import Any

from virnucpro_backend.protocol import Channel, EndOfCommands, MalformedCommand

POLL_SECONDS = 0.02


class Device:
    """A made-up device, with the process that works on it, if any."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.worker: subprocess.Popen[bytes] | None = None


class Pool:
    """Answers the engine's commands; devices come and go by order."""

    def __init__(self, channel: Channel, orders: Path) -> None:
        self._channel = channel
        self._orders = orders
        self._lock = threading.Lock()
        self._devices: dict[str, Device] = {}

    def serve(self) -> None:
        """Works until it is closed, or the engine is gone."""
        while True:
            command = self._channel.commands.get()
            if isinstance(command, EndOfCommands):
                return
            if isinstance(command, MalformedCommand):
                raise ValueError(command.problem)
            if command["type"] == "close_pool":
                self._channel.emit("bye", reason="stop")
                return
            self._do(command)

    def _do(self, command: dict[str, Any]) -> None:
        if command["type"] == "open_pool":
            assert Path(command["pool_folder"]).is_dir()
            self._channel.emit("pool_ready", version="Made-up 1.0", job="1")
            threading.Thread(target=self._obey, daemon=True).start()
            return
        name = command["device"]
        with self._lock:
            device = self._devices.get(name)
        if device is None:
            return
        if command["type"] == "start_worker":
            self._start(name, device)
        elif device.worker is None:
            return
        elif command["type"] == "worker_command":
            self._write(device.worker, command["command"])
        elif command["type"] == "end_worker":
            assert device.worker.stdin is not None
            device.worker.stdin.close()
        elif command["type"] == "kill_worker":
            device.worker.kill()

    def _write(self, worker: subprocess.Popen[bytes], command: dict[str, Any]) -> None:
        assert worker.stdin is not None
        try:
            worker.stdin.write(json.dumps(command).encode() + b"\n")
            worker.stdin.flush()
        except (OSError, ValueError):
            pass  # It has just ended: that is told by itself.

    def _start(self, name: str, device: Device) -> None:
        # As python.sh would be called, so that workers may have faults of their own.
        interpreter = [str(Path(__file__).with_name("python.sh"))]
        worker = subprocess.Popen(
            [*interpreter, "-X", "utf8", "-u", "-m", "virnucpro_backend.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        device.worker = worker
        threading.Thread(target=self._follow, args=(name, device, worker), daemon=True).start()

    def _follow(self, name: str, device: Device, worker: subprocess.Popen[bytes]) -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            with self._lock:
                if self._devices.get(name) is device:
                    self._channel.emit("worker_line", device=name, event=json.loads(line))
        code = worker.wait()
        with self._lock:
            if self._devices.get(name) is device:
                device.worker = None
                self._channel.emit(
                    "worker_exit",
                    device=name,
                    exit_code=code if code >= 0 else None,
                    signal=None if code >= 0 else Signals(-code).name,
                    last_lines=[],
                )

    def _obey(self) -> None:
        # What came before the pool's last death is past.
        done = 1 + max((at for at, line in enumerate(self._lines()) if "die" in json.loads(line)), default=-1)
        while True:
            lines = self._lines()
            for line in lines[done:]:
                self._order(json.loads(line))
            done = len(lines)
            time.sleep(POLL_SECONDS)

    def _lines(self) -> list[str]:
        return self._orders.read_text(encoding="utf-8").splitlines()

    def _order(self, order: dict[str, Any]) -> None:
        if "die" in order:
            # Workers whose channel closes end by themselves.
            os._exit(3)
        if "waiting" in order:
            self._channel.emit("pool_waiting", waiting=order["waiting"], reason=order["reason"])
        if "join" in order:
            for number in range(order["devices"]):
                self._join(order["join"], f"{order['join']}/{number}")
        for name, device in list(self._devices.items()):
            if order.get("kill") == device.node and device.worker is not None:
                device.worker.kill()
            if order.get("leave") == device.node:
                self._leave(name, device)

    def _join(self, node: str, name: str) -> None:
        with self._lock:
            self._devices[name] = Device(node)
            self._channel.emit(
                "device_joined",
                device=name,
                node=node,
                name="A processor of the cluster",
                kind="cpu",
                memory_total_bytes=1,
                until=None,
            )

    def _leave(self, name: str, device: Device) -> None:
        with self._lock:
            del self._devices[name]
            self._channel.emit("device_left", device=name, reason="the node was taken away")
        if device.worker is not None:
            device.worker.kill()


if __name__ == "__main__":
    own = Channel()
    own.hello("pool")
    Pool(own, Path(sys.argv[1])).serve()
