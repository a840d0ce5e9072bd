"""A digest changes with everything that was shown; a token is good in one place only."""

import ast
import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import digest as digest_module
from core.digest import (
    MAX_REPLY_ID_BYTES,
    MAX_TOKEN_LENGTH,
    PERSONAL,
    Action,
    Audience,
    Envelope,
    Token,
    TokenKey,
    call_ref,
    digest,
    make_token,
    read_token,
    retype_code,
    retyped,
    same_digest,
    short_code,
)
from core.errors import InvalidInput, InvalidToken

ENVELOPE = Envelope(
    tenant="T1",
    reply_id="p3-4f6c",
    call_id="call_1",
    turn=1,
    revision=1,
    agent="ops",
    session="s1",
    tool="Bash",
    input='{"command": "ls "}',
    context={"cwd": "/srv/work", "program": "/usr/bin/ls", "env": "e1"},
)
KEY = TokenKey(3, b"k" * 32)
HERE = Audience("T1", "slack", "slack:T1/U1")
TOKEN = Token("p3-" + "4f" * 16, call_ref("call_1", 1), 2, Action.APPROVE)

tokens = st.builds(
    Token,
    reply_id=st.text("abcdef0123456789-_", min_size=1, max_size=MAX_REPLY_ID_BYTES),
    call_ref=st.builds(call_ref, st.text(), st.integers(0, 100)),
    revision=st.integers(0, 65535),
    action=st.sampled_from(Action),
    detail=st.integers(0, 65535),
)


@pytest.mark.parametrize(
    "changed",
    [
        replace(ENVELOPE, tenant="T2"),
        replace(ENVELOPE, reply_id="p3-4f6d"),
        replace(ENVELOPE, call_id="call_2"),
        replace(ENVELOPE, turn=2),
        replace(ENVELOPE, revision=2),
        replace(ENVELOPE, agent="other"),
        replace(ENVELOPE, session="s2"),
        replace(ENVELOPE, tool="Read"),
        replace(ENVELOPE, input='{"command":"ls "}'),
        replace(ENVELOPE, context={**ENVELOPE.context, "cwd": "/srv/other"}),
        replace(ENVELOPE, context={**ENVELOPE.context, "more": ""}),
        replace(ENVELOPE, context={}),
    ],
    ids=range(12),
)
def test_any_altered_field_changes_the_digest(changed: Envelope) -> None:
    """Every field is bound, also the spacing of the raw input."""
    assert digest(changed) != digest(ENVELOPE)


def test_a_trailing_blank_of_the_program_is_bound() -> None:
    """The raw string is bound verbatim, so `"ls "` and `"ls"` are two calls."""
    trimmed = replace(ENVELOPE, input='{"command": "ls"}')

    assert digest(trimmed) != digest(ENVELOPE)


def test_changed_environment_or_program_is_another_digest() -> None:
    """A grant presented with another environment, or another resolved program, does not fit."""
    environment = replace(ENVELOPE, context={**ENVELOPE.context, "env": "e2"})
    program = replace(ENVELOPE, context={**ENVELOPE.context, "program": "/tmp/ls"})  # noqa: S108

    assert len({digest(ENVELOPE), digest(environment), digest(program)}) == 3


def test_changed_agent_or_session_is_another_digest() -> None:
    """A grant presented for another agent or session does not fit."""
    agent = replace(ENVELOPE, agent="ops2")
    session = replace(ENVELOPE, session="s2")

    assert len({digest(ENVELOPE), digest(agent), digest(session)}) == 3


def test_the_same_call_has_the_same_digest_whatever_the_order_of_its_context() -> None:
    """The digest is a function of the call, and the two comparisons agree."""
    turned = replace(ENVELOPE, context=dict(reversed(list(ENVELOPE.context.items()))))

    assert digest(turned) == digest(ENVELOPE)
    assert same_digest(digest(turned), digest(ENVELOPE))
    assert not same_digest(digest(turned), digest(replace(ENVELOPE, turn=9)))


def test_the_same_arguments_in_a_new_revision_have_a_new_digest() -> None:
    """An edit that changes nothing is still another revision with its own digest."""
    assert digest(replace(ENVELOPE, revision=2)) != digest(ENVELOPE)


@given(st.text(), st.text())
def test_no_two_fields_run_into_each_other(one: str, two: str) -> None:
    """Moving text from one field to the next is seen, whatever the text."""
    first = replace(ENVELOPE, agent=one + two, session="")
    second = replace(ENVELOPE, agent=one, session=two)

    assert (digest(first) == digest(second)) is (two == "")


def test_text_that_is_no_unicode_is_refused() -> None:
    """Half a surrogate pair has no bytes to bind."""
    with pytest.raises(InvalidInput):
        digest(replace(ENVELOPE, input="\ud800"))


def test_people_see_eight_digits_and_retype_four() -> None:
    """Codes are prefixes of the digest; case, blanks, dashes and # do not matter."""
    full = digest(ENVELOPE)

    assert len(short_code(full)) == 8
    assert full.startswith(short_code(full))
    assert short_code(full).startswith(retype_code(full))
    assert retyped(full, f" #{retype_code(full).upper()} ")
    assert retyped(full, f"{full[:4]}-{full[4:8]}")
    assert not retyped(full, "")
    assert not retyped(full, "g" + full[1:4])


@given(tokens, st.text(min_size=1), st.text(), st.text(min_size=1))
def test_a_token_reads_back_and_fits(token: Token, tenant: str, platform: str, person: str) -> None:
    """What was made is read, in at most 100 characters that every platform takes."""
    audience = Audience(tenant, platform, person)

    text = make_token(KEY, token, audience)

    assert len(text) <= MAX_TOKEN_LENGTH
    assert read_token([TokenKey(1, b"o" * 32), KEY], text, audience) == token


@given(tokens, st.data())
def test_any_altered_character_breaks_the_token(token: Token, data: st.DataObject) -> None:
    """Change, cut or add one character anywhere: refused."""
    text = make_token(KEY, token, HERE)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters())
    altered = data.draw(
        st.sampled_from(
            [
                text[:place] + letter + text[place + 1 :],
                text[:place] + text[place + 1 :],
                text[:place] + letter + text[place:],
                text + "=",
            ]
        )
    )

    if altered != text:
        with pytest.raises(InvalidToken):
            read_token([KEY], altered, HERE)


@given(st.text())
def test_any_other_text_is_no_token(text: str) -> None:
    """Text that we did not make is refused, never an error of another kind."""
    with pytest.raises(InvalidToken):
        read_token([KEY], text, HERE)


@pytest.mark.parametrize(
    "audience",
    [replace(HERE, tenant="T2"), replace(HERE, platform="discord"), Audience("T1slack", "")],
)
def test_a_token_is_refused_for_another_tenant_or_platform(audience: Audience) -> None:
    """Tenant and platform are bound though the token does not carry them."""
    text = make_token(KEY, TOKEN, HERE)

    with pytest.raises(InvalidToken):
        read_token([KEY], text, audience)


def test_a_token_of_one_call_is_no_token_of_another() -> None:
    """Call, revision and action can't be moved from one token into another."""
    other = replace(TOKEN, call_ref=call_ref("call_2", 1))
    one, two = make_token(KEY, TOKEN, HERE), make_token(KEY, other, HERE)

    with pytest.raises(InvalidToken):
        read_token([KEY], one[:24] + two[24:], HERE)


@pytest.mark.parametrize("action", sorted(PERSONAL, key=str))
def test_a_private_button_is_good_for_its_person_only(action: Action) -> None:
    """Approve on the last page of a review belongs to the person who read it."""
    text = make_token(KEY, replace(TOKEN, action=action), HERE)

    assert read_token([KEY], text, HERE).action is action
    with pytest.raises(InvalidToken):
        read_token([KEY], text, replace(HERE, person="slack:T1/U2"))


def test_a_public_button_is_good_for_whoever_presses() -> None:
    """Who may decide is read at the click, not written into the button."""
    text = make_token(KEY, TOKEN, HERE)

    assert read_token([KEY], text, replace(HERE, person="slack:T1/U2")) == TOKEN


def test_keys_rotate() -> None:
    """A token names its key: it is good while the key is kept, and not after."""
    new = TokenKey(4, b"n" * 32)
    text = make_token(KEY, TOKEN, HERE)

    assert read_token([new, KEY], text, HERE) == TOKEN
    with pytest.raises(InvalidToken):
        read_token([new], text, HERE)
    with pytest.raises(InvalidToken):
        read_token([replace(new, number=3)], text, HERE)


@pytest.mark.parametrize(
    "token",
    [
        replace(TOKEN, reply_id=""),
        replace(TOKEN, reply_id="x" * (MAX_REPLY_ID_BYTES + 1)),
        replace(TOKEN, revision=-1),
        replace(TOKEN, detail=65536),
    ],
)
def test_a_token_that_does_not_fit_is_an_error_when_it_is_made(token: Token) -> None:
    """Too long or out of range is found by us, not by the platform."""
    with pytest.raises(ValueError, match=r"token"):
        make_token(KEY, token, HERE)


def test_a_secret_key_is_not_printed() -> None:
    """Keys stay out of logs and tracebacks."""
    assert "kkkk" not in repr(KEY)


def test_codes_are_compared_in_constant_time() -> None:
    """No `==` stands beside a MAC or a digest, where its timing would tell how much fits."""
    tree = ast.parse(inspect.getsource(digest_module))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    compared = {
        function.name: [
            ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Compare)
        ]
        for function in functions
    }

    for name in ("same_digest", "read_token"):
        source = ast.unparse(next(f for f in functions if f.name == name))
        assert "hmac.compare_digest(" in source
        assert not [line for line in compared[name] if "mac" in line or "digest" in line]
