"""Both sides of the protocol agree: Python accepts what the schemas of the engine's contract allow.

The events of real runs are checked in the tests of the processes.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from running_worker import LOAD

from virnucpro_backend.inference.commands import parse_worker_command
from virnucpro_backend.inference.status import Step
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.prepare.preparation import parse_job
from virnucpro_backend.problem_codes import LoadFailureCode
from virnucpro_backend.typed_commands import CommandError

SCHEMAS = Path(__file__).parents[2] / "schemas"
Json = dict[str, Any]


def schema(name: str) -> Json:
    content: Json = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def variants(name: str) -> dict[str, Json]:
    """Return the schemas of one channel's messages by their type."""
    return {variant["properties"]["type"]["const"]: variant for variant in schema(name)["oneOf"]}


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
    *({**LOAD, "device": device} for device in ("cuda", "mps")),
    *({**LOAD, "precision": precision} for precision in ("fp16", "bf16", "fp8")),
    {**LOAD, "embeddings": "fp16", "memory_fraction": 0.5},
    {**LOAD, "embeddings": "fp32", "memory_fraction": 1, "tokens_per_batch": 1},
    *({**LOAD, "placement": placement} for placement in ("resident", "streamed")),
    {**LOAD, "most_tokens_per_batch": 2048, "memory_profile": PROFILE},
    {**LOAD, "second_head": {"folder": "/weights/300", "model_hash": "cd" * 32}},
    {**LOAD, "imported_embeddings": {"folder": "/run/work/imported", "index_sha256": "ab" * 32}},
    PART,
    {**PART, "frame_begin": 0, "embeddings_path": "/run/work/embeddings/000012.1.0.safetensors"},
    {"type": "recall", "part": "000012"},
    {"type": "stop"},
]


def test_every_schema_is_valid() -> None:
    names = [path.stem for path in SCHEMAS.glob("*.json")]
    assert {"worker-command", "worker-event", "monitor-event", "probe-result"} <= set(names)
    for name in names:
        jsonschema.Draft202012Validator.check_schema(schema(name))


def test_every_command_has_a_sample() -> None:
    assert {sample["type"] for sample in SAMPLES} == set(variants("worker-command"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["type"])
def test_commands_of_the_contract_are_parsed(sample: Json) -> None:
    jsonschema.validate(sample, schema("worker-command"))
    command = parse_worker_command(json.loads(json.dumps(sample)))
    assert msgspec.to_builtins(command, enc_hook=str) == sample


def spoilt(sample: Json) -> Iterator[Json]:
    """Yield a message with each field left out or of another kind."""
    for name in sample:
        yield {key: value for key, value in sample.items() if key != name}
        for value in (["unexpected"], -3, True):
            if value is not True or not isinstance(sample[name], bool):
                yield {**sample, name: value}


def test_commands_that_break_the_contract_are_refused() -> None:
    cases = [case for sample in SAMPLES for case in spoilt(sample)]
    cases += [{**LOAD, "memory_profile": profile} for profile in spoilt(PROFILE)]
    assert len(cases) > 200
    validator = jsonschema.Draft202012Validator(schema("worker-command"))
    for case in cases:
        assert not validator.is_valid(case)
        with pytest.raises(CommandError):
            parse_worker_command(case)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ({**PART, "frame_end": 4}, "frame_end 4 is before frame_begin 5"),
        ({**LOAD, "device": "abacus"}, "device is 'abacus'"),
        ({"type": "recall"}, "missing required field part"),
    ],
)
def test_a_refused_command_is_named_with_its_field_and_value(command: Json, problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        parse_worker_command(command)


JOB = {
    "type": "prepare",
    "inputs": [
        {"input": 0, "path": "/a.fa", "sha256": None},
        {"input": 1, "path": "/b.fa", "sha256": "0" * 64},
    ],
    "work_dir": "/run/work",
    "chunk_length": 500,
    "residues_per_part": 65536,
    "tail_parts": 0,
    "order_seed": None,
}


def test_prepare_jobs_follow_the_contract() -> None:
    validator = jsonschema.Draft202012Validator(schema("prepare-command"))
    inputs = tuple({**one, "repairs": (), "begins_parts": False} for one in JOB["inputs"])
    unsaid = {"second_chunk_length": None, "min_length": 1, "genetic_code": 11, "first_round": 1 / 256}
    for said in ({}, {"second_chunk_length": 300}, {"genetic_code": 15}):
        assert validator.is_valid({**JOB, **said})
        found = msgspec.to_builtins(parse_job({**JOB, **said}), enc_hook=str)
        assert found == {**JOB, "inputs": inputs, **unsaid, **said}
    with pytest.raises(PrepareError):
        parse_job({**JOB, "genetic_code": 5})
    wrong = [case for case in spoilt(JOB) if "type" in case]
    for case in (*wrong, {**JOB, "extra": 1}, {**JOB, "type": "load"}):
        assert not validator.is_valid(case)
        with pytest.raises(PrepareError):
            parse_job(case)


def enum(variant: Json, field: str) -> set[str]:
    return set(variant["properties"][field]["enum"])


def test_enumerations_are_the_same_on_both_sides() -> None:
    events = variants("worker-event")
    assert enum(events["load_failed"], "code") == set(get_args(LoadFailureCode))
    assert enum(events["heartbeat"], "step") == set(get_args(Step))


def test_every_failure_to_load_gives_what_the_words_of_its_code_name() -> None:
    named = {
        variant["properties"]["code"]["const"]: set(variant["properties"]["values"]["properties"])
        for variant in schema("problem")["anyOf"]
    }
    raised = set()
    for path in (SCHEMAS.parent / "src").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) != "LoadFailedError":
                continue
            codes = set(re.findall(r"'(\w+)'", ast.unparse(call.args[0])))
            raised |= codes
            given = {keyword.arg for keyword in call.keywords}
            assert codes, ast.unparse(call)
            assert all(given == named.get(code, set()) for code in codes), ast.unparse(call)
    assert raised == set(get_args(LoadFailureCode))
