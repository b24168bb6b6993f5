"""Typed commands of the line protocol: `msgspec` checks the names, types and ranges of their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

Command = TypeVar("Command")


class CommandError(ValueError):
    """A command does not follow the protocol; the text says what is wrong."""


class CommandStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of the commands and of the objects inside them. A command gives its `type` as `tag`."""


def parse_typed(fields: Mapping[str, object], command: Any) -> Any:
    """Convert the fields of a JSON object to one of the CommandStructs of `command`.

    Raises CommandError, which names the command, the field and its value.
    """
    try:
        return msgspec.convert(fields, command, dec_hook=_path)
    except msgspec.ValidationError as error:
        raise CommandError(_described(str(error), fields)) from error


def _path(wanted: type, value: object) -> Path:
    if wanted is not Path or not isinstance(value, str) or not value:
        raise ValueError("Expected text that is a path")
    return Path(value)


def _described(message: str, fields: Mapping[str, object]) -> str:
    """Add the offending value to msgspec's message, which ends with its path: `$.memory_profile.code`."""
    what, _, place = message.partition(" - at `$")
    value: Any = fields
    steps = [step for step in re.split(r"[.\[\]`]+", place) if step]
    for step in steps:
        value = value[int(step) if isinstance(value, list) else step]
    where = f"{'.'.join(steps)} is {value!r}: " if steps and not isinstance(value, Mapping) else ""
    return f"command {fields.get('type')!r}: {where}{what[:1].lower()}{what[1:].replace('`', '')}"
