"""What a server says of its tools counts only as far as the operator trusts it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Tool, ToolAnnotations

from adapters.mcp.definitions import MAX_NAME, changed, claims, permissions, pin, tool_name, traits
from core.permissions.rules import PermissionBehavior, PermissionContext

HINTS = st.builds(
    ToolAnnotations,
    read_only_hint=st.sampled_from([None, True, False]),
    destructive_hint=st.sampled_from([None, True, False]),
    idempotent_hint=st.sampled_from([None, True, False]),
    open_world_hint=st.sampled_from([None, True, False]),
)


def listed(hints: ToolAnnotations | None = None, name: str = "t") -> Tool:
    return Tool(name=name, input_schema={"type": "object"}, annotations=hints)


@given(hints=HINTS)
def test_hints_of_an_untrusted_server_change_nothing(hints: ToolAnnotations) -> None:
    """With any hints it is treated as one without."""
    hinted, bare = listed(hints), listed()

    assert traits(hinted, trusted=False) == traits(bare, trusted=False)
    assert permissions("t", hinted, trusted=False) == permissions("t", bare, trusted=False)
    assert not permissions("t", hinted, trusted=False).check_read_only({})


@pytest.mark.parametrize(
    ("hints", "reads", "asks_always"),
    [
        (None, False, False),
        ({"read_only_hint": True, "open_world_hint": False}, True, False),
        ({"read_only_hint": True}, False, False),
        ({"read_only_hint": True, "open_world_hint": True}, False, False),
        ({"destructive_hint": True}, False, True),
        ({"open_world_hint": False}, False, True),
        ({"destructive_hint": False}, False, False),
    ],
)
def test_hints_of_a_trusted_server_are_read_with_cautious_defaults(
    hints: dict[str, bool] | None, reads: bool, asks_always: bool
) -> None:
    """Reading inside its own system is allowed; destruction that is not ruled out always asks."""
    tool = listed(ToolAnnotations(**hints) if hints else None)  # type: ignore[arg-type]  # bools

    judged = permissions("t", tool, trusted=True)
    opinion = judged.opinion({}, PermissionContext())

    assert judged.check_read_only({}) is traits(tool, trusted=True).read_only is reads
    assert (opinion.behavior is PermissionBehavior.ASK and opinion.bypass_immune) is asks_always


def test_only_a_trusted_server_can_say_that_a_call_may_be_repeated() -> None:
    """Being retried after a lost run is a promise that somebody has to stand for."""
    tool = listed(ToolAnnotations(idempotent_hint=True))

    assert traits(tool, trusted=True).idempotent
    assert not traits(tool, trusted=False).idempotent


@given(names=st.lists(st.text(min_size=1, max_size=90), min_size=2, max_size=6, unique=True))
def test_two_tools_never_share_a_name(names: list[str]) -> None:
    """Whatever they are called; each name is one that models accept and keeps its server."""
    found = [tool_name("ops", name) for name in names]

    assert len(set(found)) == len(found)
    for name in found:
        assert name.startswith("mcp__ops__")
        assert len(name) <= MAX_NAME
        assert name.isascii()
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def test_a_plain_name_stays_as_it_is() -> None:
    """So that rules can be written by hand."""
    assert tool_name("github", "create_issue") == "mcp__github__create_issue"


def test_a_pin_changes_with_what_was_decided_about() -> None:
    """Schema and hints; the order of keys does not matter."""
    tool = Tool(name="t", input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
    same = Tool(name="t", input_schema={"properties": {"b": {}, "a": {}}, "type": "object"})
    wider = Tool(name="t", input_schema={"type": "object"})
    hinted = listed(ToolAnnotations(read_only_hint=True))

    assert pin(tool) == pin(same)
    assert len({pin(tool), pin(wider), pin(hinted)}) == 3
    assert changed({"t": pin(tool), "gone": "x"}, {"t": pin(wider)}) == ["gone", "t"]
    assert changed({"t": pin(tool)}, {"t": pin(tool), "new": "x"}) == []


def test_claims_are_put_in_words_for_people() -> None:
    """What the server says, shown as what it says."""
    tool = listed(ToolAnnotations(read_only_hint=True, open_world_hint=False))

    assert claims(tool) == ("only reads", "stays inside its own system")
    assert claims(listed()) == ()
