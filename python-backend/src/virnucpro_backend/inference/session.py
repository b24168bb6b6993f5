"""A worker's session: load once, score parts, stop. Commands come from the main thread."""

from __future__ import annotations

import logging
import os
import threading
import time
from functools import partial

import torch

from virnucpro_backend.devices.opening import LoadFailedError
from virnucpro_backend.encoders import kernels
from virnucpro_backend.inference.commands import Load, Part, Recall, Stop, WorkerCommand
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.inference.imported import EncoderName, ImportedEmbeddings
from virnucpro_backend.inference.loading import load_in_fp32, open_and_load, remarks
from virnucpro_backend.inference.memory.device_memory import DeviceMemory, memory_in_use
from virnucpro_backend.inference.pipeline import PartPipeline
from virnucpro_backend.inference.results import PartReports
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.status import WorkerStatus
from virnucpro_backend.protocol import Channel
from virnucpro_backend.weights.model_folder import LoadedModel

STOP_SECONDS = 10.0
"""The longest wait for the current batch and file; after that they are dropped."""

DEVICE_LOST_EXIT_CODE = 3

log = logging.getLogger(__name__)


class WorkerSession:
    """Carries out commands in the order of arrival. `handle` returns immediately, except for `stop`."""

    def __init__(self, channel: Channel, status: WorkerStatus) -> None:
        self._channel = channel
        self._status = status
        self._reports = PartReports(channel)
        self._pipeline = PartPipeline(self._reports, status, self._device_lost)
        self._takes_parts = False
        self._lock = threading.Lock()
        self._device_thread: threading.Thread | None = None

    def handle(self, command: WorkerCommand) -> None:
        """Carry out a command."""
        if isinstance(command, Load):
            self._load(command)
        elif isinstance(command, Part):
            self._submit(command)
        elif isinstance(command, Recall):
            self._pipeline.recall(command.key)
        elif isinstance(command, Stop):
            self._stop()

    def _load(self, command: Load) -> None:
        if self._device_thread is not None:
            self._log("error", "A second load was refused: a worker loads one model, once.")
            return
        self._takes_parts = True
        self._device_thread = threading.Thread(
            target=self._serve, args=(command,), name="device", daemon=True
        )
        self._device_thread.start()

    def _submit(self, command: Part) -> None:
        with self._lock:
            if self._takes_parts:
                self._pipeline.submit(command)
            else:
                failure = PartFailedError("internal_error", "No model is loaded in this worker.")
                self._reports.failed(command, failure)

    def _stop(self) -> None:
        with self._status.doing("stopping"):
            self._pipeline.stop()
            if self._pipeline.is_running and self._device_thread is not None:
                self._device_thread.join(STOP_SECONDS)

    def _serve(self, command: Load) -> None:
        """Run the device's thread, the only one that gives work to the device."""
        try:
            scorer = self._loaded(command)
        except LoadFailedError as failure:
            log.exception("loading failed")
            self._channel.emit("load_failed", code=failure.code, values=failure.values, detail=failure.detail)
            with self._lock:
                self._takes_parts = False
                self._pipeline.fail_all(PartFailedError("internal_error", failure.detail))
            return
        self._pipeline.run(scorer)

    def _loaded(self, command: Load) -> PartScorer:
        started = time.monotonic()
        with self._status.doing("loading"):
            ready = open_and_load(command)
        opened, model = ready.opened, ready.model
        if ready.profile is not None:
            self._reports.memory = DeviceMemory(opened.device, opened.memory_limit, ready.profile)
        self._status.device_memory_bytes = (
            partial(memory_in_use, opened.device) if opened.device.type != "cpu" else lambda: 0
        )
        attention = (model.esm2.attention.name, model.dnabert_s.attention.name)
        self._channel.emit(
            "ready",
            device_uuid=opened.uuid,
            precision=model.precision,
            tokens_per_batch=ready.tokens_per_batch,
            placement=ready.placement,
            memory_profile=None if ready.profile is None else ready.profile.fields(),
            memory_free_bytes=ready.memory_free,
            attention=f"ESM-2 {attention[0]}, DNABERT-S {attention[1]}",
            model_hash=model.model_hash,
            load_seconds=round(time.monotonic() - started, 3),
            torch_version=torch.__version__,
            memory_bytes=memory_in_use(opened.device),
        )
        for remark in remarks(ready, command):
            self._log("info", remark)
        for fallback in kernels.fallbacks():
            self._log("warning", fallback)
        return PartScorer(
            model=model,
            tokens_per_batch=command.tokens_per_batch,
            embed_equal_sequences_once=command.embed_equal_sequences_once,
            embeddings=command.embeddings,
            load_fp32=lambda device: load_in_fp32(command, device),
            most_tokens_per_batch=ready.tokens_per_batch,
            imported=self._imported(command, model),
        )

    def _imported(self, command: Load, model: LoadedModel) -> ImportedEmbeddings | None:
        """The run's imported embeddings; None if there are none, or if they are damaged."""
        source = command.imported_embeddings
        if source is None:
            return None
        widths: dict[EncoderName, int] = {
            "dnabert_s": model.dnabert_s.config.width,
            "esm2": model.esm2.config.width,
        }
        try:
            return ImportedEmbeddings(source.folder, source.index_sha256, widths)
        except (OSError, ValueError) as error:
            self._log("warning", f"The imported embeddings can't be used, all are computed: {error}")
            return None

    def _device_lost(self) -> None:
        self._log("error", "The device stopped working; this worker ends.")
        logging.shutdown()
        # Not sys.exit: after such a fault PyTorch's clean-up can hang.
        os._exit(DEVICE_LOST_EXIT_CODE)

    def _log(self, level: str, message: str) -> None:
        log.log(getattr(logging, level.upper()), message)
        self._channel.emit("log", level=level, message=message)
