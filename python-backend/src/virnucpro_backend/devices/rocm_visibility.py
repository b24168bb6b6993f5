"""Which of this computer's AMD GPUs the user's ROCm variables leave visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHORTEST_UUID = len("GPU-") + 1


def visible_uuids(environ: Mapping[str, str], uuids: Sequence[str]) -> set[str]:
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
