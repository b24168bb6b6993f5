"""Fields of a command, each checked for its type and range; whatever is wrong is said by the field's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Fields = Mapping[str, object]
Value = TypeVar("Value")


class CommandError(ValueError):
    """A command that does not follow the protocol; the text says what is wrong."""


def field(fields: Fields, name: str) -> object:
    """A field that must be there. This, and all below, raise CommandError."""
    if name not in fields:
        raise CommandError(f"{fields.get('type')}: field {name!r} is missing")
    return fields[name]


def optional(read: Callable[[Fields, str], Value], fields: Fields, name: str) -> Value | None:
    """What `read` makes of a field that must be there but may be null."""
    return None if field(fields, name) is None else read(fields, name)


def text(fields: Fields, name: str) -> str:
    """Text with at least one character."""
    value = field(fields, name)
    if not isinstance(value, str) or not value:
        raise CommandError(f"{fields.get('type')}: {name} must be text, not {value!r}")
    return value


def one_of(fields: Fields, name: str, allowed: tuple[Any, ...]) -> Any:
    """One of a few words."""
    value = text(fields, name)
    if value not in allowed:
        raise CommandError(f"{fields.get('type')}: {name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def count(fields: Fields, name: str, at_least: int = 0) -> int:
    """A whole number."""
    value = field(fields, name)
    if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
        raise CommandError(
            f"{fields.get('type')}: {name} must be a whole number of {at_least} or more, not {value!r}"
        )
    return value


def truth(fields: Fields, name: str) -> bool:
    """True or false."""
    value = field(fields, name)
    if not isinstance(value, bool):
        raise CommandError(f"{fields.get('type')}: {name} must be true or false, not {value!r}")
    return value


def share(fields: Fields, name: str) -> float:
    """A number above 0 and at most 1."""
    value = field(fields, name)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= 1:
        raise CommandError(f"{fields.get('type')}: {name} must be above 0 and at most 1, not {value!r}")
    return float(value)
