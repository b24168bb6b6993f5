"""Which of this computer's GPUs CUDA_VISIBLE_DEVICES leaves visible, by the rules of CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NamedDevice:
    """The names of a GPU or MIG slice: nvidia-smi's number, UUID, and for a slice the UUID of its GPU."""

    index: int
    uuid: str
    parent_uuid: str | None


def visible_gpus(setting: str | None, devices: Sequence[NamedDevice]) -> set[str]:
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
