"""Which of this computer's GPUs the user's variables leave visible, by the rules of CUDA and ROCm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NamedDevice:
    """The names of a GPU or MIG slice: nvidia-smi's number, UUID, and for a slice the UUID of its GPU."""

    index: int
    uuid: str
    parent_uuid: str | None


def visible_nvidia_gpus(setting: str | None, devices: Sequence[NamedDevice]) -> set[str]:
    """UUIDs of the devices that a value of CUDA_VISIBLE_DEVICES leaves visible.

    `None` (not set) leaves all. Tokens are numbers, UUIDs or unique beginnings of UUIDs (`GPU-...`), and MIG
    slices as `MIG-<UUID>` or in the older form `MIG-GPU-<UUID>/<instance>/<instance>`. As in CUDA, the first
    token that names nothing ends the list, so an empty value and `-1` leave none. Numbers are nvidia-smi's,
    which this program shows everywhere. If a GPU is named, its slices are visible too; naming a slice doesn't
    make its GPU visible.
    """
    if setting is None:
        return {device.uuid for device in devices}
    named: set[str] = set()
    for token in setting.split(","):
        device = _device_named(token.strip(), devices)
        if device is None:
            break
        named.add(device.uuid)
    return {device.uuid for device in devices if device.uuid in named or device.parent_uuid in named}


def _device_named(token: str, devices: Sequence[NamedDevice]) -> NamedDevice | None:
    if token.isascii() and token.isdigit():
        number = int(token)
        return next((d for d in devices if d.parent_uuid is None and d.index == number), None)
    if not token.upper().startswith(("GPU-", "MIG-")):
        return None
    folded = token.lower()
    matches = [d for d in devices if d.uuid.lower().startswith(folded)]
    exact = [d for d in matches if d.uuid.lower() == folded]
    if exact:
        return exact[0]
    return matches[0] if len(matches) == 1 else None


SHORTEST_UUID = len("GPU-") + 1


def visible_amd_gpus(environ: Mapping[str, str], uuids: Sequence[str]) -> set[str]:
    """UUIDs of the visible GPUs; `uuids` are all GPUs in the order of ROCm's runtime.

    Two filters apply in turn: ROCR_VISIBLE_DEVICES in the runtime, then HIP_VISIBLE_DEVICES, or
    CUDA_VISIBLE_DEVICES if that is not set. The second numbers the GPUs that the first left, in the first's
    order. Tokens are numbers, or unique prefixes of UUIDs; the first token that names nothing, or names a GPU
    again, ends the list, so an empty value and `-1` leave none.
    """
    left = list(uuids)
    second = environ.get("HIP_VISIBLE_DEVICES", environ.get("CUDA_VISIBLE_DEVICES"))
    for setting in (environ.get("ROCR_VISIBLE_DEVICES"), second):
        if setting is not None:
            left = _sieved(setting, left)
    return set(left)


def _sieved(setting: str, uuids: Sequence[str]) -> list[str]:
    named: list[str] = []
    for token in setting.split(","):
        uuid = _uuid_named(token.strip(), uuids)
        if uuid is None or uuid in named:
            break
        named.append(uuid)
    return named


def _uuid_named(token: str, uuids: Sequence[str]) -> str | None:
    if token.isascii() and token.isdigit():
        return uuids[int(token)] if int(token) < len(uuids) else None
    folded = token.lower()
    if not folded.startswith("gpu-") or len(folded) < SHORTEST_UUID:
        return None
    matches = [uuid for uuid in uuids if uuid.lower().startswith(folded)]
    return matches[0] if len(matches) == 1 else None
