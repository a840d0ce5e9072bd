"""What an input may be, and what two readers must agree on."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput, InvalidSchema
from core.inputs import (
    MAX_INPUT_BYTES,
    FieldError,
    Json,
    canonical_input,
    changes,
    check_schema,
    parse_input,
    validate_input,
)
from tests.cases import rows

FILE_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(st.text(), json_values, max_size=5)


@pytest.mark.parametrize(
    "row", rows("security_cases.jsonl", "json_input"), ids=lambda row: str(row["id"])
)
def test_each_known_input_gets_its_verdict(row: dict[str, Any]) -> None:
    """Every row is read, or refused by the reader or by the schema that forbids extra keys."""
    raw, expected = row["input"]["raw"], row["expected"]

    try:
        value = parse_input(raw)
        verdict = "accept" if value else "empty_object"
        if validate_input({**FILE_SCHEMA, "required": []}, value, close=True) and "x" in value:
            verdict = "invalid_input"
    except InvalidInput:
        verdict = "invalid_input"

    assert verdict == expected.removesuffix("_flagged")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"a":' * 10_000, "too_deep"),
        ('{"a":' + "[" * 10_000 + "]" * 10_000 + "}", "too_deep"),
        ('{"a":' + "[" * 64 + "]" * 64 + "}", "too_deep"),
        ("[" * 500_000, "too_deep"),
        ('{"a":"' + "x" * MAX_INPUT_BYTES + '"}', "too_long"),
        ('{"a":"' + "é" * (MAX_INPUT_BYTES // 2) + '"}', "too_long"),
        ('{"a":' + "9" * 100_000 + "}", "integer_too_large"),
        ('{"a":-9007199254740993}', "integer_too_large"),
        ('{"a":Infinity}', "not_a_number"),
        ('{"a":-Infinity}', "not_a_number"),
        ('{"a":-1e999}', "number_overflow"),
        ('{"b":{"a":1,"a":1}}', "duplicate_key"),
        ('{"\\udc00":1}', "lone_surrogate"),
        ('{"a":"\ud800"}', "not_utf8"),
        ("[]", "not_an_object"),
        ("null", "not_an_object"),
        ('"text"', "not_an_object"),
        ("7", "not_an_object"),
        (" ", "not_json"),
        ('{"a":1}{"a":1}', "not_json"),
        ("{'a':1}", "not_json"),
        ('{"a":1,}', "not_json"),
        ('{"a":01}', "not_json"),
        ('{"a":1} // x', "not_json"),
        ('{"a":"\n"}', "not_json"),
        ("\ufeff{}", "byte_order_mark"),
    ],
    ids=range(26),
)
def test_an_input_that_parsers_disagree_on_is_refused(raw: str, reason: str) -> None:
    """The refusal names the fault; no input, however deep or long, ends in another error."""
    with pytest.raises(InvalidInput) as refused:
        parse_input(raw)

    assert refused.value.reason == reason


def test_bytes_that_are_not_utf8_are_refused() -> None:
    """Bytes off the wire are decoded strictly."""
    with pytest.raises(InvalidInput):
        parse_input(b'{"a":"\xff"}')


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("", {}),
        (" {} \n", {}),
        ('{"__proto__":{"x":1}}', {"__proto__": {"x": 1}}),
        ('{"a":"\\u0000"}', {"a": "\0"}),
        ('{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a":9007199254740991,"b":-9007199254740991}', {"a": 2**53 - 1, "b": 1 - 2**53}),
        ('{"a":"[[[[{\\"[["}', {"a": '[[[[{"[['}),
        ('{"a":' + "[" * 63 + "]" * 63 + "}", None),
    ],
)
def test_plain_inputs_are_read(raw: str, value: dict[str, Json] | None) -> None:
    """Odd but unambiguous inputs are plain data; brackets inside strings are no depth."""
    parsed = parse_input(raw)

    assert value is None or parsed == value


@given(json_objects)
def test_whatever_json_can_say_is_read_back(value: dict[str, Json]) -> None:
    """Reading what was written gives the same value, spaced or not, escaped or not."""
    assert parse_input(json.dumps(value)) == value
    assert parse_input(json.dumps(value, ensure_ascii=False, indent=3)) == value


@given(st.text())
def test_any_text_is_read_or_refused_cleanly(raw: str) -> None:
    """No text makes the reader fail in another way than by InvalidInput."""
    try:
        value: object = parse_input(raw)
    except InvalidInput:
        value = {}

    assert isinstance(value, dict)


def test_a_secret_in_a_broken_input_is_not_quoted() -> None:
    """Error messages travel to logs and models, so they hold nothing of the input."""
    with pytest.raises(InvalidInput) as refused:
        parse_input('{"hunter2hunter2": 1, "hunter2hunter2": 2}')

    assert "hunter2" not in str(refused.value)


def test_spacing_and_key_order_do_not_make_another_input() -> None:
    """The canonical form of two spellings is the same, and differs for another value."""
    one = canonical_input(parse_input('{"b": [1, 2], "a": "\\u00e9"}'))
    two = canonical_input(parse_input('{"a":"é","b":[1,2]}'))
    other = canonical_input(parse_input('{"a":"é","b":[2,1]}'))

    assert one == two == '{"a":"é","b":[1,2]}'
    assert other != one


@given(json_objects, json_objects)
def test_changes_are_empty_only_for_the_same_input(
    old: dict[str, Json], new: dict[str, Json]
) -> None:
    """An edit that changes something is never shown as changing nothing."""
    same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)

    assert (changes(old, new) == ()) is same
    assert changes(old, old) == ()


def test_changes_name_the_place_and_keep_types_apart() -> None:
    """Added, removed and changed are told apart, so are 1, 1.0, "1", true, null and missing."""
    old: Json = {"a": 1, "b": {"x/y": [1, 2]}, "c": None, "d": 1, "e": 1}
    new: Json = {"a": 1.0, "b": {"x/y": [1, 3, 4]}, "d": True, "e": "1", "f": None}

    found = [(change.pointer, change.kind, change.old, change.new) for change in changes(old, new)]

    assert found == [
        ("/a", "changed", 1, 1.0),
        ("/b/x~1y/1", "changed", 2, 3),
        ("/b/x~1y/2", "added", None, 4),
        ("/c", "removed", None, None),
        ("/d", "changed", 1, True),
        ("/e", "changed", 1, "1"),
        ("/f", "added", None, None),
    ]


def test_every_wrong_field_is_named_with_its_place() -> None:
    """Errors carry the JSON pointer of the field, also of missing and extra ones."""
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
        "required": ["to", "subject"],
        "additionalProperties": False,
    }

    found = validate_input(schema, {"n": 0, "x": 1, "to": 3})

    assert set(found) == {
        FieldError("/subject", "required", "is missing"),
        FieldError("/x", "additionalProperties", "is not a field of this tool"),
        FieldError("/n", "minimum", "must be at least 1"),
        FieldError("/to", "type", "must be of type string"),
    }


def test_an_undeclared_key_is_refused_when_closing_and_not_otherwise() -> None:
    """A schema that does not say is open for foreign tools, closed for edits and our own."""
    value: Json = {"path": "a", "mode": 420, "x": 1}

    assert validate_input(FILE_SCHEMA, value) == []
    assert [error.pointer for error in validate_input(FILE_SCHEMA, value, close=True)] == ["/x"]
    assert validate_input({**FILE_SCHEMA, "additionalProperties": True}, value, close=True) == []
    assert validate_input({"type": "object"}, value, close=True) == []


def test_closing_reaches_nested_objects_and_follows_references() -> None:
    """Extra keys are refused in items and referenced models, and composed models keep theirs."""
    schema = {
        "type": "object",
        "properties": {
            "who": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
            "all": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
            "both": {"allOf": [{"$ref": "#/$defs/Person"}, {"properties": {"age": {}}}]},
            "free": {"type": "object"},
        },
        "$defs": {"Person": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }

    def refused(value: Json) -> bool:
        return validate_input(schema, value, close=True) != []

    assert not refused({"who": {"name": "a"}, "all": [{"name": "b"}], "free": {"x": 1}})
    assert not refused({"who": None, "both": {"name": "a", "age": 3}})
    assert refused({"who": {"name": "a", "x": 1}})
    assert refused({"all": [{"name": "a"}, {"x": 1}]})
    assert refused({"both": {"name": "a", "x": 1}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"minLength": -1}}},
    ],
)
def test_a_wrong_schema_is_refused_when_it_is_registered(schema: dict[str, Any]) -> None:
    """What can't be checked against later is found at start."""
    with pytest.raises(InvalidSchema):
        check_schema(schema)


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/s.json", "#/$defs/none", "#"])
def test_a_schema_never_fetches_nor_loops(reference: str) -> None:
    """A foreign, dangling or endless reference is an error of the schema; nothing is fetched."""
    with pytest.raises(InvalidSchema):
        validate_input({"$ref": reference}, {"a": 1})


def test_messages_never_quote_the_value() -> None:
    """A value may be a secret, and messages go to the model, the dialog and the log."""
    schema = {
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "c": {"pattern": "^x"}}
    }
    value: Json = {"a": "hunter2", "b": "hunter2", "c": "hunter2", "hunter3": {}}

    found = validate_input(schema, value, close=True)

    assert len(found) == 4
    assert "hunter2" not in " ".join(error.message for error in found)


@pytest.mark.parametrize("row", rows("real_tools.jsonl"), ids=lambda row: str(row["name"]))
def test_real_tools_take_good_inputs_and_edits_and_refuse_bad_ones(row: dict[str, Any]) -> None:
    """The input and the good edit satisfy the closed schema; the bad edit is refused."""
    schema, value = row["inputSchema"], row["input"]

    assert validate_input(schema, value, close=True) == []
    if "edit" in row:
        assert validate_input(schema, _edited(value, row["edit"], "new"), close=True) == []
    if "invalid_edit" in row:
        assert validate_input(schema, _edited(value, row["invalid_edit"], "value"), close=True)


def _edited(value: Any, edit: dict[str, Any], key: str) -> Any:
    copy = json.loads(json.dumps(value))
    *parents, last = [part.replace("~1", "/") for part in edit["pointer"].split("/")[1:]]
    place = copy
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    index: Any = int(last) if isinstance(place, list) else last
    if edit.get("remove"):
        del place[index]
    elif isinstance(place, list) and index == len(place):
        place.append(edit[key])
    else:
        place[index] = edit[key]
    return copy
