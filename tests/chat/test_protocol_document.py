"""docs/protocol.md and protocol.schema.json describe the same frames."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads(
    (ROOT / "chat" / "static" / "chat" / "protocol.schema.json").read_text(encoding="utf-8")
)
DIRECTIONS = {"client": "client_frame", "server": "server_frame"}
EXAMPLE = re.compile(r"^```json (client|server)( invalid)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    direction: str
    valid: bool
    frame: dict[str, Any]


def examples(*, valid: bool) -> list[Any]:
    found = [
        Example(direction, not invalid, json.loads(body))
        for direction, invalid, body in EXAMPLE.findall(DOCUMENT)
    ]
    return [
        pytest.param(example, id=f"{example.direction}-{example.frame['type']}-{position}")
        for position, example in enumerate(found)
        if example.valid is valid
    ]


def validator(direction: str) -> Draft202012Validator:
    return Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{DIRECTIONS[direction]}"}]})


def types_of(direction: str) -> set[str]:
    frames = SCHEMA["$defs"][DIRECTIONS[direction]]["oneOf"]
    return {frame["$ref"].rsplit("/", 1)[1] for frame in frames}


def test_schema_is_itself_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("example", examples(valid=True))
def test_example_frame_is_valid(example: Example) -> None:
    assert list(validator(example.direction).iter_errors(example.frame)) == []


@pytest.mark.parametrize("example", examples(valid=False))
def test_refused_frame_is_invalid(example: Example) -> None:
    assert not validator(example.direction).is_valid(example.frame)


@pytest.mark.parametrize("example", examples(valid=True))
def test_example_frame_is_refused_in_the_other_direction(example: Example) -> None:
    other = "server" if example.direction == "client" else "client"
    assert not validator(other).is_valid(example.frame)


@pytest.mark.parametrize("example", examples(valid=True))
def test_surplus_property_is_refused(example: Example) -> None:
    assert not validator(example.direction).is_valid({**example.frame, "surplus": 1})


@pytest.mark.parametrize("example", examples(valid=True))
def test_every_property_but_the_optional_ones_is_required(example: Example) -> None:
    optional = {"draining", "paused", "card"} if example.frame["type"] == "history" else set()
    optional |= {"client_id"} if example.frame["type"] == "error" else set()
    for name in set(example.frame) - optional:
        rest = {key: kept for key, kept in example.frame.items() if key != name}
        assert not validator(example.direction).is_valid(rest), name


@pytest.mark.parametrize("direction", ["client", "server"])
def test_document_has_an_example_of_every_frame(direction: str) -> None:
    shown = {
        param.values[0].frame["type"]
        for param in examples(valid=True)
        if param.values[0].direction == direction
    }
    assert shown == types_of(direction)


def test_document_explains_every_error_code() -> None:
    codes = set(SCHEMA["$defs"]["error"]["properties"]["code"]["enum"])
    assert set(re.findall(r"^\| `([a-z_]+)` \|", DOCUMENT, re.MULTILINE)) == codes


def test_length_of_a_message_counts_code_points() -> None:
    frame = {"type": "say", "client_id": "5b6f0c52-6c39-4b0e-9a51-3a2f1f5f7c10"}
    assert validator("client").is_valid({**frame, "text": "🙂" * 4000})
    assert not validator("client").is_valid({**frame, "text": "🙂" * 4001})
