"""Conditions on arguments."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RuleRefused
from core.permissions.arguments import argument_index, check_argument_rule
from tests.core.permissions.samples import rule


def covers(behavior: str, content: str, value: dict[str, Any]) -> bool:
    """Whether one rule covers a call."""
    return argument_index([rule(behavior, "fn", content)]).find(value) is not None


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("amount<=100, currency=EUR", {"amount": 100, "currency": "EUR"}),
        ("amount<100", {"amount": 99.5}),
        ("amount>=0", {"amount": 0}),
        ('name="a, (b)"', {"name": "a, (b)"}),
        ('name="say \\"hi\\", twice"', {"name": 'say "hi", twice'}),
        ("dry_run=true", {"dry_run": True}),
        ("after=null", {"after": None}),
        ("env!=prod", {"env": "staging"}),
        ("/items/1/sku=A1", {"items": [{}, {"sku": "A1"}]}),
        ("/a~1b/c=1", {"a/b": {"c": 1}}),
        ("code=007", {"code": "007"}),
        ("n=1", {"n": 1.0}),
    ],
)
def test_conditions_that_hold(content: str, value: dict[str, Any]) -> None:
    """Allow and deny rules agree where the answer is certain."""
    assert covers("allow", content, value)
    assert covers("deny", content, value)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("amount<=100", {"amount": 100.01}),
        ("amount<=100, currency=EUR", {"amount": 5, "currency": "USD"}),
        ("env!=prod", {"env": "prod"}),
        ("currency=EUR", {"currency": "eur"}),
    ],
)
def test_conditions_that_do_not_hold(content: str, value: dict[str, Any]) -> None:
    """Neither covers."""
    assert not covers("allow", content, value)
    assert not covers("deny", content, value)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("amount<=100", {}),
        ("amount<=100", {"amount": "5"}),
        ("amount<=100", {"amount": True}),
        ("x=1", {"x": "1"}),
        ("x=1", {"x": True}),
        ("env!=prod", {}),
        ("a=1", {"a": [1]}),
        ("/items/0=1", {"items": []}),
    ],
)
def test_what_can_not_be_decided_counts_against_the_call(
    content: str, value: dict[str, Any]
) -> None:
    """A missing argument or another type: not allowed, and denied."""
    assert not covers("allow", content, value)
    assert covers("deny", content, value)


@pytest.mark.parametrize(
    "content", ["x", "=1", "x=", "x<a", "x=[1]", "x=a*", "a b=1", "x=1,", "*", "x=1e999", "x=NaN"]
)
def test_a_pattern_that_can_not_be_read(content: str) -> None:
    """Refused when saved; in force it allows nothing and denies everything."""
    with pytest.raises(RuleRefused) as refused:
        check_argument_rule(rule("allow", "fn", content))

    assert refused.value.remedy
    assert not covers("allow", content, {"x": 1})
    assert covers("deny", content, {"x": 1})


names = st.sampled_from(["x", "y"])
values = st.one_of(st.integers(-2, 2), st.sampled_from(["a", "1"]), st.booleans(), st.none())
conditions = st.builds(
    lambda name, operator, value: f"{name}{operator}{value}",
    names,
    st.sampled_from(["=", "!=", "<=", ">"]),
    st.sampled_from(["1", "-1", "true", "a", "null", '"1"', "0"]),
)
rule_contents = st.lists(conditions, min_size=1, max_size=2).map(",".join)


@given(
    st.sampled_from(["allow", "deny"]),
    st.lists(rule_contents, max_size=8),
    st.dictionaries(names, values),
)
def test_an_index_of_many_finds_what_each_alone_finds(
    behavior: str, contents: list[str], value: dict[str, Any]
) -> None:
    """Filing rules by equality loses none."""
    alone = any(covers(behavior, content, value) for content in contents)
    together = argument_index([rule(behavior, "fn", content) for content in contents])

    assert (together.find(value) is not None) == alone
