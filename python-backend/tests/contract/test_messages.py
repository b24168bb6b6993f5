"""Both sides of the protocol agree: the schemas exported from the engine's contract, and what Python accepts.

The events of real runs are checked where the processes are tested.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from virnucpro_backend.inference.command_fields import CommandError
from virnucpro_backend.inference.commands import parse_worker_command
from virnucpro_backend.inference.failures import LoadFailureCode, PartFailureCode
from virnucpro_backend.inference.status import Step

SCHEMAS = Path(__file__).parents[2] / "schemas"
Json = dict[str, Any]


def schema(name: str) -> Json:
    content: Json = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def variants(name: str) -> dict[str, Json]:
    """The schemas of one channel's messages by their type."""
    return {variant["properties"]["type"]["const"]: variant for variant in schema(name)["oneOf"]}


LOAD = {
    "type": "load",
    "device": "cuda",
    "model_folder": "/models/500 β",
    "precision": "bf16",
    "tokens_per_batch": 16384,
    "embed_equal_sequences_once": True,
    "embeddings": None,
    "memory_fraction": None,
    "most_tokens_per_batch": None,
    "placement": "auto",
    "memory_profile": None,
}
PROFILE = {
    "placement": "streamed",
    "fixed_bytes": 600_000_000,
    "bytes_per_token": 107_000,
    "code": "PyTorch 2.13.0, eager/equal_length/eager/equal_length",
}
PART = {
    "type": "part",
    "part": "000012.1.0",
    "part_path": "/run/work/parts/000012.safetensors",
    "part_sha256": "0123456789abcdef" * 4,
    "frame_begin": 5,
    "frame_end": 5,
    "scores_path": "/run/work/scores/000012.1.0.safetensors",
    "embeddings_path": None,
}
SAMPLES: list[Json] = [
    LOAD,
    *({**LOAD, "device": device} for device in ("cpu", "rocm", "mps")),
    *({**LOAD, "precision": precision} for precision in ("fp16", "fp32", "fp8")),
    {**LOAD, "embeddings": "fp16", "memory_fraction": 0.5},
    {**LOAD, "embeddings": "fp32", "memory_fraction": 1, "tokens_per_batch": 1},
    *({**LOAD, "placement": placement} for placement in ("resident", "streamed")),
    {**LOAD, "most_tokens_per_batch": 2048, "memory_profile": PROFILE},
    PART,
    {**PART, "frame_begin": 0, "embeddings_path": "/run/work/embeddings/000012.1.0.safetensors"},
    {"type": "recall", "part": "000012"},
    {"type": "stop"},
]


def test_every_schema_is_a_schema() -> None:
    names = [path.stem for path in SCHEMAS.glob("*.json")]
    assert {"worker-command", "worker-event", "monitor-event", "probe-result"} <= set(names)
    for name in names:
        jsonschema.Draft202012Validator.check_schema(schema(name))


def test_there_is_a_sample_of_every_command() -> None:
    assert {sample["type"] for sample in SAMPLES} == set(variants("worker-command"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["type"])
def test_a_command_of_the_contract_is_understood(sample: Json) -> None:
    jsonschema.validate(sample, schema("worker-command"))
    command = parse_worker_command(json.loads(json.dumps(sample)))
    known = vars(command).values()
    fields = {str(asdict(value) if is_dataclass(value) else value) for value in known}
    for name, value in sample.items():
        if name != "type":
            assert str(value) in fields or str(float(value)) in fields


def spoilt() -> Iterator[Json]:
    """Every sample with a field left out or of another kind."""
    for sample in SAMPLES:
        for name in sample:
            yield {key: value for key, value in sample.items() if key != name}
            yield {**sample, name: ["unexpected"]}
            yield {**sample, name: -3}
            if not isinstance(sample[name], bool):
                yield {**sample, name: True}
    for name in PROFILE:
        yield {**LOAD, "memory_profile": {key: value for key, value in PROFILE.items() if key != name}}
        for value in (["unexpected"], -3, True):
            yield {**LOAD, "memory_profile": {**PROFILE, name: value}}


def test_what_the_contract_forbids_is_refused() -> None:
    cases = list(spoilt())
    assert len(cases) > 200
    validator = jsonschema.Draft202012Validator(schema("worker-command"))
    for case in cases:
        assert not validator.is_valid(case)
        with pytest.raises(CommandError):
            parse_worker_command(case)


def enum(variant: Json, field: str) -> set[str]:
    return set(variant["properties"][field]["enum"])


def test_closed_lists_are_the_same_on_both_sides() -> None:
    events = variants("worker-event")
    assert enum(events["part_failed"], "code") == set(get_args(PartFailureCode))
    assert enum(events["load_failed"], "code") == set(get_args(LoadFailureCode))
    assert enum(events["heartbeat"], "step") == set(get_args(Step))
