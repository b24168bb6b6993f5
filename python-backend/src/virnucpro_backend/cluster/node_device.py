"""The one device that a scheduler has given to this process, and the variables that leave it to a worker."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from virnucpro_backend.cluster.events import ClusterDeviceKind
from virnucpro_backend.devices.probe import probe

ASKED_FOR_GPU = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_TASK")


class NoDeviceError(Exception):
    """The scheduler has given a GPU that can't be used; the text says why."""


class NodeDevice:
    """A GPU, or this node's processor. `uuid` is None for a processor, `memory` is in bytes."""

    def __init__(self, found: Mapping[str, Any], environ: Mapping[str, str], processors: bool) -> None:
        """`found`: what `probe` answers. `processors`: GPUs are none of this task's. Raises NoDeviceError."""
        self.node = environ.get("SLURMD_NODENAME") or socket.gethostname()
        gpus = [gpu for gpu in found["gpus"] if gpu["visible"] and not _is_split(gpu) and not processors]
        usable = [gpu for gpu in gpus if gpu["blocked_by"] is None]
        self.kind: ClusterDeviceKind = "cpu"
        self.uuid: str | None = None
        if usable:
            gpu = usable[0]
            self.kind = "cuda" if gpu["vendor"] == "nvidia" else "rocm"
            self.uuid = gpu["uuid"]
            self.name = gpu["name"]
            self.memory = gpu["memory_total_bytes"]
            self.index = gpu["index"]
        elif not processors and any(environ.get(name, "0") not in ("", "0") for name in ASKED_FOR_GPU):
            blocked = gpus[0]["blocked_by"] if gpus else None
            why = (
                f"blocked by {blocked}"
                if blocked
                else found["no_gpu_reason"] or "none is visible to this job"
            )
            raise NoDeviceError(f"The scheduler gave a GPU on {self.node}, and it can't be used: {why}")
        else:
            self.name = found["cpu"]["name"]
            self.memory = found["cpu"]["memory_total_bytes"]

    def worker_environment(self) -> dict[str, str]:
        """Variables that pin a worker to the device, as the engine does on its own computer."""
        if self.kind == "cuda":
            return {"CUDA_VISIBLE_DEVICES": self.uuid or "", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        if self.kind == "rocm":
            uuid = self.uuid or ""
            return {
                "ROCR_VISIBLE_DEVICES": uuid if uuid.startswith("GPU-") else str(self.index),
                "HIP_VISIBLE_DEVICES": "0",
                "CUDA_VISIBLE_DEVICES": "",
            }
        # One thread per worker: sums must not depend on how many cores there are.
        return {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def node_device(processors: bool) -> NodeDevice:
    """The device of this process; a processor where only those are wanted. Raises NoDeviceError."""
    return NodeDevice(probe(os.environ), os.environ, processors)


def _is_split(gpu: Mapping[str, Any]) -> bool:
    """Whether it is an NVIDIA GPU in MIG mode itself, of which only the slices compute."""
    return bool(gpu.get("mig_enabled")) and gpu.get("parent_uuid") is None
