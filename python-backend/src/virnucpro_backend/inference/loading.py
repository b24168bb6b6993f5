"""Opens a worker's device and loads the model onto it, as its free memory allows."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from virnucpro_backend.devices import host
from virnucpro_backend.devices.opening import LoadFailedError, OpenDevice, open_device
from virnucpro_backend.devices.precisions import DeviceKind, Precision
from virnucpro_backend.inference.commands import EmbeddingPrecision, Load
from virnucpro_backend.inference.memory.device_memory import allowance, free_cached_memory, is_out_of_memory
from virnucpro_backend.inference.memory.memory_profile import MemoryProfile, Placement, budget
from virnucpro_backend.inference.memory.model_memory import (
    WORTHWHILE_BATCH,
    ModelSizes,
    main_memory_suffices,
    measure_profile,
    placement_of,
    placements_to_try,
    software,
)
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.inference.warm_up import compiling_kernels, warm_up
from virnucpro_backend.weights.errors import WeightsError
from virnucpro_backend.weights.model_folder import LoadedModel, load_model, with_second_head
from virnucpro_backend.weights.model_json import ModelDescription, read_model_json

MEMORY_OF_OTHERS = 3 << 29
"""In bytes; if more of a GPU's memory is in use before this process starts, other programs use it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadyModel:
    """A model on its device. `tokens_per_batch`: the most that a batch may hold there. `profile` is None if
    the device doesn't count its memory. `memory_free`: bytes that were free for this process before loading.
    """

    opened: OpenDevice
    model: LoadedModel
    tokens_per_batch: int
    profile: MemoryProfile | None
    memory_free: int | None

    @property
    def placement(self) -> Placement:
        """Where ESM-2's layers are."""
        return placement_of(self.model)


def open_and_load(command: Load) -> ReadyModel:
    """Open the device and load the model onto it. Raises LoadFailedError, whatever goes wrong."""
    try:
        ready = _open_and_load(command)
        second = command.second_head
        if second is None:
            return ready
        return replace(ready, model=with_second_head(ready.model, second.folder, second.model_hash))
    except LoadFailedError:
        raise
    except WeightsError as error:
        is_missing = error.code in ("model_unknown", "model_missing")
        raise LoadFailedError(
            "model_missing" if is_missing else "model_damaged",
            error.message,
            path=error.path or str(command.model_folder),
        ) from error
    except Exception as error:
        full = is_out_of_memory(error)
        raise LoadFailedError(
            "out_of_memory" if full else "worker_load_failed", f"{type(error).__name__}: {error}"
        ) from error


def _open_and_load(command: Load) -> ReadyModel:
    opened = open_device(command.device, command.precision, command.memory_fraction)
    wanted = min(command.tokens_per_batch, command.most_tokens_per_batch or command.tokens_per_batch)
    if opened.memory_total > 0:
        return _load_on_gpu(command, opened, wanted)
    streamed = command.placement == "streamed"
    model = load_model(
        command.model_folder,
        opened.device,
        command.precision,
        streamed=streamed,
        mapped=opened.device.type == "cpu" and not streamed,
    )
    return ReadyModel(opened, model, wanted, None, None)


def open_scorer(
    folder: Path,
    device: DeviceKind,
    precision: Precision,
    tokens_per_batch: int,
    embeddings: EmbeddingPrecision | None = None,
) -> PartScorer:
    """Open a device and load a model folder for scoring outside a run. Raises LoadFailedError."""
    command = Load(
        device=device,
        model_folder=folder,
        precision=precision,
        tokens_per_batch=tokens_per_batch,
        embed_equal_sequences_once=False,
        embeddings=embeddings,
        memory_fraction=None,
        most_tokens_per_batch=None,
        placement="auto",
        memory_profile=None,
        imported_embeddings=None,
        second_head=None,
    )
    ready = open_and_load(command)
    return PartScorer(
        ready.model,
        ready.tokens_per_batch,
        embed_equal_sequences_once=False,
        embeddings=embeddings,
        load_fp32=lambda device: load_in_fp32(command, device),
    )


def load_in_fp32(command: Load, device: torch.device) -> LoadedModel:
    """Load a command's model again in FP32, beside the first one. Raises what `load_model` raises."""
    if device.type == "cpu":
        return load_model(command.model_folder, device, "fp32", mapped=True)
    streamed = False
    if device.type == "cuda":
        sizes = ModelSizes.of(read_model_json(command.model_folder), "fp32")
        streamed = "resident" not in placements_to_try("auto", sizes, allowance(device, None))
    return load_model(command.model_folder, device, "fp32", streamed=streamed)


def remarks(ready: ReadyModel, command: Load) -> list[str]:
    """Remarks for the user on how the model uses the device's memory."""
    said = []
    free, total = ready.memory_free, ready.opened.memory_total
    room = "" if free is None else f"{_gib(free)} of this GPU's {_gib(total)} GiB of memory are free for it"
    if ready.placement == "streamed":
        why = f"ESM-2 does not fit as a whole: {room}." if command.placement == "auto" else "As requested:"
        said.append(
            f"{why} ESM-2's layers stay in main memory and are copied to the device one after the other. "
            "The results are the same."
        )
    if ready.profile is not None and ready.tokens_per_batch < command.tokens_per_batch:
        said.append(
            f"Batches hold {ready.tokens_per_batch:,} tokens instead of {command.tokens_per_batch:,}: {room}."
        )
    if said and free is not None and command.memory_fraction is None and total - free > MEMORY_OF_OTHERS:
        said.append("Other programs hold much of this GPU's memory; without them the run would be faster.")
    if command.device == "mps":
        said.append("Apple GPUs were never tested: compare some results with those of the processor.")
    return said


def _load_on_gpu(command: Load, opened: OpenDevice, wanted: int) -> ReadyModel:
    description = read_model_json(command.model_folder)
    sizes = ModelSizes.of(description, command.precision)
    free = allowance(opened.device, opened.memory_limit)
    placements = placements_to_try(command.placement, sizes, free)
    for placement in placements:
        if placement == "streamed":
            _check_main_memory(sizes)
        ready = _placed(command, description, opened, placement, free, wanted)
        last = placement == placements[-1]
        if ready is not None and (last or ready.tokens_per_batch >= min(wanted, WORTHWHILE_BATCH)):
            return ready
        ready = None
        free_cached_memory(opened.device)
    raise LoadFailedError(
        "model_too_large",
        f"{_gib(free)} of {_gib(opened.memory_total)} GiB are free, and the model has {_gib(sizes.weights)}",
        free=_gib(free),
        needed=_gib(sizes.weights),
    )


def _placed(
    command: Load,
    description: ModelDescription,
    opened: OpenDevice,
    placement: Placement,
    free: int,
    wanted: int,
) -> ReadyModel | None:
    """Load the model in one placement; None if that leaves too little memory for a batch."""
    try:
        streamed = placement == "streamed"
        kernels = compiling_kernels(description, command.precision, opened.device)
        model = load_model(
            command.model_folder, opened.device, command.precision, streamed=streamed, beside=kernels
        )
        warm_up(model)
        profile = _known(command.memory_profile, model) or measure_profile(model)
    except Exception as error:
        # The traceback holds what has been loaded, so don't retry in this block.
        if not is_out_of_memory(error):
            raise
        log.warning("not enough memory for %s layers: %s", placement, error)
        return None
    free_cached_memory(opened.device)
    room = allowance(opened.device, opened.memory_limit)
    tokens = budget(profile, room, wanted)
    log.info("%s; %d bytes for this process, so %d tokens per batch", profile, room, tokens)
    return ReadyModel(opened, model, tokens, profile, free) if tokens else None


def _known(profile: MemoryProfile | None, model: LoadedModel) -> MemoryProfile | None:
    """Return an earlier worker's profile if it was measured with this placement and software."""
    if profile is None or (profile.placement, profile.code) != (placement_of(model), software(model)):
        return None
    return profile


def _check_main_memory(sizes: ModelSizes) -> None:
    available = host.memory().available
    if not main_memory_suffices(sizes, available):
        raise LoadFailedError(
            "main_memory_too_small",
            f"{available} bytes of main memory are free, and ESM-2's layers take {sizes.layers}.",
            free=_gib(available),
            needed=_gib(sizes.layers),
        )


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 30):.1f}"
