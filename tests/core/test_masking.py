"""Secrets are masked, and nothing hides behind a mask."""

import json
import re
import string
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import find_secrets, mask, show_value
from core.text.secret_patterns import is_secret_name, looks_random
from tests.cases import rows

REDACTION_ROWS = [
    row for row in rows("security_cases.jsonl", "redaction") if "text" in row["input"]
]

SECRETS = {
    "redaction-001": "FAKEFAKEFAKE",
    "redaction-005": "FAKE",
    "redaction-006": "eyJmYWtlIjoxfQ",
    "redaction-008": "fake.token.value",
    "redaction-011": "fakepw",
    "redaction-012": "fake",
}


@pytest.mark.parametrize("row", REDACTION_ROWS, ids=lambda row: str(row["id"]))
def test_each_known_secret_is_masked(row: dict[str, Any]) -> None:
    """Every row: the secret is gone, its kind, length and hash are named, the rest stays."""
    text = row["input"]["text"]
    secret = SECRETS.get(row["id"], text)

    masked = mask(text)

    assert secret not in masked.text
    assert re.search(r"<secret: [A-Za-z ]+, \d+ chars, #[0-9a-f]{8}>", masked.text)
    if "***" in row["expected"]["shown"]:
        plain = re.sub(r"<secret:[^>]*>", "***", masked.text)
        assert plain == row["expected"]["shown"]


def _letters(count: int, seed: int = 1) -> str:
    return "".join(Random(seed).choices(string.ascii_letters + string.digits, k=count))  # noqa: S311


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("curl -u bob:", "hunter2", " https://x.example"),
        ("postgres://app:", "hunter2", "@db.internal/x"),
        ("https://hooks.slack.com/services/", "T000/B000/abc", ""),
        ("https://discord.com/api/webhooks/123/", "abc-DEF", ""),
        ("export AWS_SECRET_ACCESS_KEY=", _letters(40), "\n"),
        ("mysql -u root -p", "hunter2", " shop"),
        ("sshpass -p ", "hunter2", " ssh x"),
        ("--token ", "hunter2", " --dry-run"),
        ("GET /?access_token=", "abc", "&page=2"),
        ("Cookie: sid=", "abc123", "; theme=dark"),
        ('{\\"client_secret\\": \\"', "hunter2", '\\"}'),
        ("password: ", "hunter2", "\nuser: bob"),
        ("the key is ", _letters(40), " ok"),
        ("", "gh" + "p_" + _letters(36), ""),
        ("AWS: ", "AK" + "IA" + "ABCDEFGHIJKLMNOP", ""),
        ("bot ", "M" + _letters(23) + "." + _letters(6) + "." + _letters(30), ""),
    ],
    ids=range(16),
)
def test_secrets_are_found_where_people_put_them(before: str, secret: str, after: str) -> None:
    """The secret is masked; what stands around it stays, so that the text can be judged."""
    masked = mask(before + secret + after).text

    assert secret not in masked
    assert masked.startswith(before)
    assert "<secret: " in masked


def test_a_key_block_is_masked_line_by_line() -> None:
    """Line breaks, written or escaped, are never covered."""
    kind = "PRIVATE" + " KEY"
    block = f"-----BEGIN RSA {kind}-----\nMIIEow==\nIBAAKC\\nAQEA\n-----END RSA {kind}-----\nrm x"

    masked = mask(block).text

    assert masked.count("\n") == block.count("\n")
    assert masked.endswith("rm x")
    assert "\\n<secret" in masked
    assert not any(part in masked for part in ("MIIE", "IBAAKC", "AQEA"))


@given(st.text() | st.lists(st.sampled_from(
    ["token=", "password: ", '"', "'", " ", ";", "rm -rf /", "\n", "eyJabcdef.eyJabc", "Bearer ",
     "curl -u a:", "://u:", "@", "Cookie: ", "a=b", "-----BEGIN PRIVATE KEY-----", "AbC1" * 8]
), max_size=12).map("".join))  # fmt: skip
def test_a_mask_covers_only_harmless_characters(text: str) -> None:
    """No blank, quote, operator or line break can hide behind a mask."""
    spans = find_secrets(text)

    assert all(re.fullmatch(r"[A-Za-z0-9._~+/=-]+", text[s.start : s.end]) for s in spans)
    assert all(one.end <= two.start for one, two in pairwise(spans))


@pytest.mark.parametrize(
    "text",
    [
        "git show 3f785a1c9e0b4d6f8a2c5e7b9d1f3a5c7e9b0d2f",
        "docker pull x@sha256:" + "ab12" * 16,
        "id 123e4567-e89b-12d3-a456-426614174000",
        "nextPageToken=abcdef",
        "token: see below",
        "password=$(cat /run/secrets/db)",
        "Authorization: Bearer $TOKEN",
        "tokenizer = Tokenizer(text)",
        "max_tokens: 4096",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.1.1/getUserByIdAndName2",
        "TheQuickBrownFoxJumpsOver13LazyDogs2",
        '{"password": "string"}',
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    """Hashes, ids, references to secrets and ordinary names stay readable."""
    assert mask(text).text == text


def test_real_commands_are_not_masked_without_reason() -> None:
    """Of the real command lines, only the ones that hold a credential are masked."""
    masked = [row["command"] for row in rows("real_commands.jsonl") if mask(row["command"]).spans]

    assert [c for c in masked if not re.search(r"API_KEY=|://\w+:|Authorization", c)] == []


def test_real_tool_inputs_are_not_masked_without_reason() -> None:
    """No realistic input of a popular tool is masked, by itself or by its schema."""
    found = [
        (row["name"], key)
        for row in rows("real_tools.jsonl")
        for key, value in row["input"].items()
        if "masked" in show_value((key,), value, row["inputSchema"]).flags
    ]

    assert found == []


def test_generated_keys_are_recognised() -> None:
    """At least nine of ten random keys of 32 letters and digits are seen as such."""
    keys = [_letters(32, seed) for seed in range(500)]

    assert sum(map(looks_random, keys)) >= 450


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("pin", _schema(pin={"type": "string", "format": "password"})),
        ("pin", _schema(pin={"type": "string", "writeOnly": True})),
        ("pin", _schema(pin={"anyOf": [{"format": "password"}, {"type": "null"}]})),
        ("apiKey", _schema()),
        ("db_password", None),
    ],
)
def test_a_schema_or_a_name_makes_a_field_secret(name: str, schema: dict[str, Any] | None) -> None:
    """Hinted fields are masked whatever they hold, and one click is withheld."""
    shown = show_value((name,), "a b", schema)

    assert re.sub(r"<secret:[^>]*>", "*", shown.text) == "* *"
    assert shown.flags == ("masked",)
    assert not shown.one_click


def test_hints_reach_into_nested_values() -> None:
    """A secret inside an object or a list is masked, the rest of it is not."""
    user = _schema(code={"type": "string", "writeOnly": True}, name={"type": "string"})
    schema = _schema(users={"type": "array", "items": {"$ref": "#/$defs/U"}}) | {
        "$defs": {"U": user}
    }

    shown = show_value(
        ("users",), [{"name": "ana", "code": "x1"}, {"name": "bo", "code": "x2"}], schema
    )

    assert shown.text.count("<secret: ") == 2
    assert '"name": "ana"' in shown.text
    assert "x1" not in re.sub(r"#[0-9a-f]{8}", "", shown.text)


def test_an_identifier_may_look_random() -> None:
    """A document id is a destination to be judged, not a secret."""
    identifier = _letters(44)

    assert show_value(("spreadsheetId",), identifier).text == identifier
    assert "<secret" in show_value(("body",), identifier).text


def test_the_same_secret_has_the_same_code_and_a_pepper_changes_it() -> None:
    """Codes let people recognise a secret without knowing it, and are keyed per installation."""
    one = find_secrets("token=hunter2")[0].code

    assert one == find_secrets("x token=hunter2")[0].code
    assert one != find_secrets("token=hunter2", pepper=b"p")[0].code


@pytest.mark.parametrize("name", ["api_key", "apiKey", "DB_PASSWORD", "token", "client-secret"])
def test_names_of_secrets_are_known(name: str) -> None:
    """Common spellings of common names."""
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["page_token", "nextPageToken", "tokens", "key", "author", "path"])
def test_names_of_other_things_are_not_taken_for_secrets(name: str) -> None:
    """Page tokens, counts and plain keys are shown."""
    assert not is_secret_name(name)


def _hostile() -> Iterator[str]:
    for unit in ("token=", "-eyJ", "eyJaaaaa.", "curl ", '"api_key": "', "--a-", "://a:", "aB3-"):
        yield unit * (65536 // len(unit))


@pytest.mark.timeout(20)
def test_hostile_repetition_does_not_stall() -> None:
    """Every pattern reads in linear time: 64 KiB of anything is done at once."""
    assert all(json.dumps(mask(text).text) for text in _hostile())
