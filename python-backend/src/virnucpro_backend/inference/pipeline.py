"""Three threads that read the next part and write the last one while the device computes.

reader: file, hash, tokens, batches, pinned buffers -> compute: queues all of a part's work on the device and
continues with the next part -> writer: waits for the device, checks, writes, reports. If results are not
finite, the writer returns the part to the compute thread, the only one that gives work to the device.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from virnucpro_backend.inference.batching import PreparedPart
from virnucpro_backend.inference.commands import Part
from virnucpro_backend.inference.encoding import PartListener
from virnucpro_backend.inference.failures import PartFailedError, part_failure
from virnucpro_backend.inference.memory.device_memory import peak_memory, start_peak_measurement
from virnucpro_backend.inference.part_file import read_part
from virnucpro_backend.inference.results import PartReports, write_part
from virnucpro_backend.inference.scorer import LaunchedPart, PartScorer
from virnucpro_backend.inference.status import WorkerStatus

READ_AHEAD = 2
"""How many parts may be read and not yet started."""

log = logging.getLogger(__name__)


@dataclass
class Job:
    """A part in the worker. It is first waiting, and then either begun or recalled, never both."""

    command: Part
    begun_at: float = 0.0
    recalled: bool = False
    _taken: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> bool:
        """Whether it was still waiting; the caller begins or recalls it then."""
        return self._taken.acquire(blocking=False)


_Task = tuple[int, int, Job | None, PreparedPart | LaunchedPart | None]
"""For the compute thread, by urgency and arrival: first a stop, then recomputations, then new parts."""


class StoppedError(Exception):
    """The worker must stop; unfinished work is dropped."""


class _StoppableBatches(PartListener):
    """Reports progress, counts, and raises StoppedError on a stop request, after each step of a batch."""

    def __init__(self, progress: PartListener, between_steps: Callable[[], None]) -> None:
        self._progress = progress
        self._between_steps = between_steps

    def batch_done(self, frames: int, residues: int) -> None:
        self._progress.batch_done(frames, residues)
        self._between_steps()

    def step_done(self, residues: float) -> None:
        self._progress.step_done(residues)
        self._between_steps()

    def out_of_memory(self, tokens_before: int, tokens_after: int) -> None:
        self._progress.out_of_memory(tokens_before, tokens_after)


class PartPipeline:
    """Takes part commands, from the start on, and reports each as done or failed.

    `run` is the compute thread's loop.
    """

    def __init__(
        self, reports: PartReports, status: WorkerStatus, on_device_lost: Callable[[], None]
    ) -> None:
        self._scorer: PartScorer
        self._reports = reports
        self._status = status
        self._on_device_lost = on_device_lost
        self._stopping = threading.Event()
        self._jobs: dict[str, Job] = {}
        self._to_read: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._to_compute: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._to_write: queue.SimpleQueue[tuple[Job, LaunchedPart] | None] = queue.SimpleQueue()
        self._read_ahead = threading.Semaphore(READ_AHEAD)
        self._last_done_at = 0.0
        self._reader = threading.Thread(target=self._read, name="reader", daemon=True)
        self._writer = threading.Thread(target=self._write, name="writer", daemon=True)

    def submit(self, command: Part) -> None:
        """Queue a part."""
        job = Job(command)
        self._jobs[command.key] = job
        self._to_read.put(job)

    def recall(self, key: str) -> None:
        """Give a part back if it has not started; otherwise it will be reported as done or failed."""
        job = self._jobs.get(key)
        if job is not None and job.take():
            job.recalled = True
            self._fail(job, PartFailedError("recalled", "Given back before it started."))

    def fail_all(self, failure: PartFailedError) -> None:
        """Report all parts as failed, as there is no model."""
        for job in list(self._jobs.values()):
            self._fail(job, failure)

    def stop(self) -> None:
        """Make `run` drop unfinished work and return, also if it is idle."""
        self._stopping.set()
        self._to_compute.put((0, next(self._numbers), None, None))

    @property
    def is_running(self) -> bool:
        """Whether `run` has been called."""
        return hasattr(self, "_scorer")

    def run(self, scorer: PartScorer) -> None:
        """Compute until a stop is requested; return when all launched parts are written."""
        self._scorer = scorer
        self._reader.start()
        self._writer.start()
        with contextlib.suppress(StoppedError):
            while True:
                _, _, job, work = self._to_compute.get()
                self._check_stop()
                if job is not None and work is not None:
                    self._compute(job, work)
        self._to_write.put(None)
        self._writer.join()

    def _read(self) -> None:
        while True:
            job = self._to_read.get()
            self._read_ahead.acquire()
            command = job.command
            if job.recalled:
                self._read_ahead.release()
                continue
            try:
                with self._status.doing("reading", command.key):
                    frames = read_part(
                        command.part_path, command.part_sha256, command.frame_begin, command.frame_end
                    )
                    prepared = self._scorer.prepare(frames)
            except Exception as error:
                self._read_ahead.release()
                if job.take():
                    self._fail(job, error)
                continue
            self._to_compute.put((2, next(self._numbers), job, prepared))

    def _compute(self, job: Job, work: PreparedPart | LaunchedPart) -> None:
        if not isinstance(work, LaunchedPart):
            self._read_ahead.release()
            if not job.take():
                return
            job.begun_at = time.monotonic()
            start_peak_measurement(self._scorer.device)
        try:
            with self._status.doing("computing", job.command.key):
                if not isinstance(work, LaunchedPart):
                    progress = self._reports.progress(job.command, work.frames)
                    launched = self._scorer.launch(work, _StoppableBatches(progress, self._between_steps))
                else:
                    if work.imported_differ():
                        self._reports.imported_refused(job.command)
                    unheard = _StoppableBatches(PartListener(), self._between_steps)
                    launched = self._scorer.recompute(work, unheard)
        except StoppedError:
            raise
        except Exception as error:
            self._fail(job, error)
            return
        self._to_write.put((job, launched))

    def _write(self) -> None:
        while (item := self._to_write.get()) is not None:
            job, launched = item
            try:
                if self._scorer.needs_recomputation(launched):
                    self._to_compute.put((1, next(self._numbers), job, launched))
                    continue
                self._finish(job, launched)
            except Exception as error:
                self._fail(job, error)

    def _finish(self, job: Job, launched: LaunchedPart) -> None:
        scores = self._scorer.collect(launched)
        command, model = job.command, self._scorer.model
        with self._status.doing("writing", command.key):
            written = write_part(command, scores, model.model_hash, model.precision)
        # A part starts while the device is still busy with the previous one.
        now = time.monotonic()
        seconds = now - max(job.begun_at, self._last_done_at)
        self._last_done_at = now
        self._jobs.pop(command.key, None)
        residues = len(launched.part.frames.residues)
        log.info(
            "part %s done: %d frames, %d residues in %.2f s",
            command.key,
            len(scores.state),
            residues,
            seconds,
        )
        peaks = peak_memory(self._scorer.device)
        self._reports.done(command, scores, written, residues, seconds, peaks)

    def _fail(self, job: Job, error: Exception) -> None:
        failure = part_failure(error)
        if failure.code != "recalled":
            log.error("part %s: %s: %s\n%s", job.command.key, failure.code, failure.message, failure.detail)
        self._jobs.pop(job.command.key, None)
        self._reports.failed(job.command, failure)
        if failure.code == "device_lost":
            self._on_device_lost()

    def _between_steps(self) -> None:
        self._status.finished_step()
        self._check_stop()

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise StoppedError
